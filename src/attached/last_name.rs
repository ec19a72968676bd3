//! Tests which name a thread has that ends while it is looked up.

use std::ffi::CStr;
use std::sync::mpsc::channel;

use nix::sys::prctl::set_name;

use super::Attached;
use crate::event::Priority;
use crate::lifecycle;
use crate::ring::system_names::SystemNames;
use crate::ring::threads;
use crate::shm::Name;
use crate::source::Order;
use crate::timeline::Timeline;

#[test]
fn a_thread_that_ends_while_the_kernel_is_asked_has_the_name_that_it_stored() {
    let path = format!("/timeline-test-last-name-{}", std::process::id());
    let timeline = Timeline::with_size(&path, 1024, 4096).expect("created");
    let event = timeline.define("test", Priority::Info, "$n");
    let event = event.expect("defined");
    let (segment, _file) =
        lifecycle::attach(&Name::new(path.as_ref()).expect("a name")).expect("attached");
    let (map, geometry) = (&segment.map, &segment.geometry);
    let named = |name: &CStr| set_name(name).expect("named");
    let (send, recorded) = channel();
    // Its record is read, and it ends before the kernel is asked.
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            named(c"first");
            timeline.log(event, [1]);
            let attached = Attached::open(&path).expect("attached");
            let logged = attached.events(Order::NewestFirst).next().expect("logged");
            named(c"last");
            let recorded = threads::lookup(map, geometry, logged.thread.0);
            send.send(recorded.expect("there")).expect("heard");
        });
        thread.join().expect("ended");
    });
    let recorded = recorded.recv().expect("told");
    assert_eq!(recorded.thread.name.as_deref(), Some("first"));
    assert_ne!(recorded.process, 0, "it was running");
    let mut names = SystemNames::default();
    assert_eq!(names.of(map, geometry, &recorded), Some("last"));
    lifecycle::unlink(&path).expect("removed");
}
