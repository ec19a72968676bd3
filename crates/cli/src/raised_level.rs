//! Brings the level back that a sampler has left raised that was killed.

use timeline::{Attached, Control};

use crate::output;

/// The most looks that are left out after one in vain.
const MOST: u32 = 256;

/// Looks after the level of a timeline. Where that cannot be brought back, because others have the
/// lock or because the timeline is another user's, it tries more and more rarely.
pub struct RaisedLevel<'a> {
    at: &'a Attached,
    rarely: Rarely,
}

impl<'a> RaisedLevel<'a> {
    /// That of this timeline.
    pub fn new(at: &'a Attached) -> RaisedLevel<'a> {
        RaisedLevel {
            at,
            rarely: Rarely::default(),
        }
    }

    /// Brings it back if it is time for that, and says so.
    pub fn restore(&mut self) {
        let path = self.at.path();
        let mut restored = Ok(false);
        self.rarely.attempt(|| {
            // What has the name by now is not ours to look after.
            restored = match self.at.is_snapshot() || self.at.replaced() {
                true => Ok(false),
                false => Control::restore_level(path),
            };
            restored.is_ok()
        });
        if let Ok(true) = restored {
            let (path, level) = (path.display(), self.at.level());
            output::say(format_args!(
                "{path}: a sampler was killed and had left the level raised; it is {level} again"
            ));
        }
    }
}

/// Leaves out attempts after one in vain: one, then two, four, and so on.
#[derive(Default)]
struct Rarely {
    in_vain: u32,
    left_out: u32,
}

impl Rarely {
    /// Makes an attempt, which says whether it was not in vain, unless this one is left out.
    fn attempt(&mut self, attempt: impl FnOnce() -> bool) {
        if self.left_out > 0 {
            self.left_out -= 1;
            return;
        }
        match attempt() {
            true => self.in_vain = 0,
            false => {
                self.left_out = 1u32.checked_shl(self.in_vain).map_or(MOST, |n| n.min(MOST));
                self.in_vain += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attempts_in_vain_become_rare_and_one_that_is_not_makes_them_frequent_again() {
        let mut rarely = Rarely::default();
        let mut made = Vec::new();
        for look in 0..2000 {
            rarely.attempt(|| {
                made.push(look);
                look > 1500
            });
        }
        let first: Vec<_> = made.iter().take_while(|look| **look <= 1500).collect();
        assert_eq!(first.len(), 13, "{first:?}");
        assert_eq!(made[..5], [0, 2, 5, 10, 19]);
        assert_eq!(made.last(), Some(&1999));
        let last = made.iter().filter(|look| **look > 1600).count();
        assert!(last > 200, "{last}");
    }
}
