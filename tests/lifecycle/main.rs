//! From nothing to a timeline and to its corpse: creating, joining, defining, levels, and what goes
//! wrong.

#[path = "../harness/mod.rs"]
mod harness;

mod alive;
mod define;
mod foreign;
mod level;
mod names;
mod refusing;
mod saving;
mod space;

harness::roles!(
    holds,
    races,
    creates,
    unprivileged,
    fills,
    defines,
    levels,
    samples,
    executes_itself,
    loses_its_first_thread,
    logs_a_lap,
    has_a_limit,
    exits_in_a_burst,
    squats,
    locks_everything,
    locks_slots,
    dies_unseen,
    has_a_umask,
    shares_a_small_space,
    has_little_shared_memory,
    share_little_shared_memory,
    has_no_locks,
    renames_by_links,
    races_by_links,
    has_a_quota,
    restarts_as_another_user,
);

use alive::{executes_itself, loses_its_first_thread};
use define::defines;
use foreign::{
    dies_unseen, has_a_umask, locks_everything, locks_slots, restarts_as_another_user, squats,
};
use level::{exits_in_a_burst, levels, samples};
use names::{creates, holds, races, unprivileged};
use refusing::{has_a_quota, has_no_locks, races_by_links, renames_by_links};
use saving::logs_a_lap;
use space::{
    fills, has_a_limit, has_little_shared_memory, share_little_shared_memory, shares_a_small_space,
};
