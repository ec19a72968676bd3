//! Pins a recorder to one core.

use core_affinity::CoreId;

use crate::failure::{Failure, Result};

/// Has this thread, and those that it starts from now on, run on this core only.
pub fn pin(core: usize) -> Result {
    let Some(usable) = core_affinity::get_core_ids() else {
        return Err(Failure::Message(
            "cannot find out which cores this process may use".into(),
        ));
    };
    let core = CoreId { id: core };
    if usable.contains(&core) && core_affinity::set_for_current(core) {
        return Ok(());
    }
    let (usable, core) = (ranges(&usable), core.id);
    Err(Failure::misuse(format!(
        "--cpu must be a core that this process may use ({usable}), got {core}"
    )))
}

/// Ascending numbers, as the kernel writes lists of cores: `0-3,8`.
fn ranges(cores: &[CoreId]) -> String {
    let runs = cores.chunk_by(|core, next| core.id + 1 == next.id);
    let shown = runs.map(|run| match run {
        [first, .., last] => format!("{}-{}", first.id, last.id),
        _ => run[0].id.to_string(),
    });
    shown.collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cores_in_a_row_are_shown_as_a_range() {
        let shown = |cores: &[usize]| {
            let cores: Vec<CoreId> = cores.iter().map(|&id| CoreId { id }).collect();
            ranges(&cores)
        };
        assert_eq!(shown(&[0]), "0");
        assert_eq!(shown(&[0, 1]), "0-1");
        assert_eq!(shown(&[0, 1, 2, 3, 8, 10, 11]), "0-3,8,10-11");
    }
}
