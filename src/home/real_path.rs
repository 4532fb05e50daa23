//! The real path of something that may not exist.
//!
//! Responsible for: following links as far as the path exists and keeping the rest, as Python's
//! `Path.resolve()` does. Not responsible for: link chains for display (`writer`).

use std::path::{Component, Path, PathBuf};

/// Resolve an absolute path.
pub(super) fn resolve(path: &Path) -> PathBuf {
    let mut rest: Vec<Component<'_>> = Vec::new();
    let mut known = path;
    loop {
        if let Ok(real) = known.canonicalize() {
            let mut out = real;
            for step in rest.into_iter().rev() {
                match step {
                    Component::ParentDir => {
                        out.pop();
                    }
                    Component::Normal(name) => out.push(name),
                    _ => {}
                }
            }
            return out;
        }
        let (Some(parent), Some(last)) = (known.parent(), known.components().next_back()) else {
            return path.to_path_buf();
        };
        rest.push(last);
        known = parent;
    }
}
