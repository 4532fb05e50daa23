//! Is this content what an interrupted in-place write of ours leaves behind?
//!
//! Responsible for: one pure decision on bytes. Not responsible for: files.
//!
//! An interrupted write leaves, block by block, the old bytes, the new bytes, or zeros where the
//! filesystem had extended the file but not stored the data yet. Within one block a write that was
//! cut short leaves new bytes before old ones, and a rollback that was cut short as well puts old
//! bytes before those: three runs. Whatever else is found was written by somebody else and is not
//! ours to overwrite. Nor is a file shorter than both versions: we never shrink below the shorter.

/// Disks and filesystems store at least this many bytes at a time.
const BLOCK: usize = 512;
/// Old, new, old: the most that two interrupted writes can make of one block.
const RUNS: usize = 3;

/// What a file holds, seen from the journal of an in-place write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Content {
    /// The old content, whole.
    Old,
    /// The new content, whole.
    New,
    /// A mixture that only our interrupted write explains.
    Torn,
    /// Something else.
    Foreign,
}

/// Compare what a file holds with the two versions of its journal.
pub(crate) fn classify(now: &[u8], old: &[u8], new: &[u8]) -> Content {
    if now == new {
        return Content::New;
    }
    if now == old {
        return Content::Old;
    }
    if now.len() < old.len().min(new.len()) || now.len() > old.len().max(new.len()) {
        return Content::Foreign;
    }
    let ours = now.chunks(BLOCK).enumerate().all(|(index, block)| {
        let at = index * BLOCK;
        explains(block, part(old, at), part(new, at))
    });
    if ours {
        Content::Torn
    } else {
        Content::Foreign
    }
}

fn part(bytes: &[u8], at: usize) -> &[u8] {
    bytes.get(at..).unwrap_or_default()
}

/// Whether `block` is made of at most [`RUNS`] runs, each taken from `old`, `new` or zeros at the
/// same offset. Taking the longest run each time gives the fewest.
fn explains(block: &[u8], old: &[u8], new: &[u8]) -> bool {
    let mut at = 0;
    for _ in 0..RUNS {
        let rest = &block[at..];
        let zeros = rest.iter().take_while(|byte| **byte == 0).count();
        let longest = common(rest, part(old, at))
            .max(common(rest, part(new, at)))
            .max(zeros);
        at += longest;
        if at == block.len() {
            return true;
        }
    }
    false
}

fn common(a: &[u8], b: &[u8]) -> usize {
    a.iter().zip(b).take_while(|(x, y)| x == y).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(tag: u8, length: usize) -> Vec<u8> {
        (0..length)
            .map(|i| tag.wrapping_add(b"qwertyuiopasdfghjklzxcv"[i * 7 % 23]))
            .collect()
    }

    #[test]
    fn whole_versions_are_recognised() {
        let (old, new) = (text(b'a', 1000), text(b'A', 1300));
        assert_eq!(classify(&old, &old, &new), Content::Old);
        assert_eq!(classify(&new, &old, &new), Content::New);
    }

    #[test]
    fn a_cut_in_the_middle_of_a_block_is_ours() {
        let (old, new) = (text(b'a', 3000), text(b'A', 3000));
        let mut now = new[..700].to_vec();
        now.extend(&old[700..]);
        assert_eq!(classify(&now, &old, &new), Content::Torn);
    }

    #[test]
    fn a_tail_of_zeros_is_ours() {
        let (old, new) = (text(b'a', 1000), text(b'A', 6000));
        let mut now = old.clone();
        now.resize(5000, 0);
        assert_eq!(classify(&now, &old, &new), Content::Torn);
    }

    #[test]
    fn a_cut_rollback_over_a_cut_write_is_ours() {
        let (old, new) = (text(b'a', 512), text(b'A', 512));
        let mut now = old.clone();
        now[100..300].copy_from_slice(&new[100..300]);
        assert_eq!(classify(&now, &old, &new), Content::Torn);
    }

    #[test]
    fn a_hand_edit_is_not_ours() {
        let (old, new) = (text(b'a', 3000), text(b'A', 3000));
        let mut now = old.clone();
        now[1500] = b'#';
        assert_eq!(classify(&now, &old, &new), Content::Foreign);
        let mut longer = new.clone();
        longer.push(b'\n');
        assert_eq!(classify(&longer, &old, &new), Content::Foreign);
        assert_eq!(
            classify(&old[..1000], &old, &new),
            Content::Foreign,
            "a file that was cut by hand must not be grown back"
        );
        assert_eq!(classify(b"", &old, &new), Content::Foreign);
    }
}
