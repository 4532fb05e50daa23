//! The one signal that a write can raise.
//!
//! Responsible for: turning SIGXFSZ, which kills by default, into the EFBIG that the write returns
//! anyway. Not responsible for: any other signal.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Make writes beyond the file size limit (`ulimit -f`) fail with EFBIG instead of killing the
/// process. To be called once, early in `main`; a library must not change signals by itself.
pub fn ignore_file_size_signal() -> std::io::Result<()> {
    // A handler that only sets a flag is enough: the default action no longer happens.
    signal_hook::flag::register(
        rustix::process::Signal::XFSZ.as_raw(),
        Arc::new(AtomicBool::new(false)),
    )
    .map(|_| ())
}
