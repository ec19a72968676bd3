//! Asks a store what time it is there, and how exactly the answer is known.
//!
//! The method is that of NTP: the answer says when the question came and when the answer went, by
//! the store's clock. The rest of the round trip was spent on the way there and back, and nobody
//! knows in which shares. So the store's clock, when the answer comes, is ahead of the time in it
//! by half of that, and the other half is the error. An answer that nobody takes at once has a
//! longer way and a larger error, and is as right.

use std::io;
use std::time::{Duration, Instant, SystemTime};

use timeline_archive::ReferenceClock;

use super::Sender;
use crate::message::{Beat, ClockAnswer, WireMessage};

/// The time between two questions.
const OFTEN: Duration = Duration::from_secs(10);

/// How long an answer is waited for: twice as long as the last one took, between these. One that
/// takes longer is taken when the recorder comes by, and its error is larger.
const WAIT: [Duration; 2] = [Duration::from_millis(2), Duration::from_millis(20)];
/// By how much the wall clock may differ from the clock of the question until the answer is there.
/// Beyond that, it was set, or the machine was suspended, which the clock of the question does not
/// count.
const SET: Duration = Duration::from_millis(1);

/// The questions to a store.
#[derive(Default)]
pub struct ClockQuestions {
    /// The boot id and the name of the store's machine, as it says. `None` if it tells no time.
    machine: Option<(String, String)>,
    /// The last question and when it was asked, if it is not answered.
    asked: Option<(u64, Instant, SystemTime)>,
    /// How long the last answer took.
    took: Option<Duration>,
    number: u64,
    next: Option<Instant>,
    reading: Option<ReferenceClock>,
}

impl ClockQuestions {
    /// Begins with another connection, to a store that says this of its machine.
    pub fn begin(&mut self, machine: Option<(String, String)>) {
        self.machine = machine;
        (self.asked, self.next, self.took) = (None, None, None);
    }

    /// The question that is due now, if one is.
    pub fn due(&mut self) -> Option<u64> {
        let now = Instant::now();
        self.machine.as_ref()?;
        if self.next.is_some_and(|next| now < next) {
            return None;
        }
        self.number += 1;
        self.next = Some(now + OFTEN);
        self.asked = Some((self.number, now, SystemTime::now()));
        Some(self.number)
    }

    /// Whether an answer is to come.
    pub fn waits(&self) -> bool {
        self.asked.is_some()
    }

    /// How long the answer is waited for.
    fn wait(&self) -> Duration {
        let [least, most] = WAIT;
        self.took.map_or(most, |took| (2 * took).clamp(least, most))
    }

    /// Takes an answer that came just now.
    pub fn take(&mut self, answer: ClockAnswer) {
        let (taken, now) = (Instant::now(), SystemTime::now());
        let is_answer = |asked: &mut (u64, _, _)| asked.0 == answer.asked;
        let Some((_, asked, then)) = self.asked.take_if(is_answer) else {
            return;
        };
        let took = taken - asked;
        self.took = Some(took);
        let by_wall_clock = now.duration_since(then).unwrap_or_default();
        if by_wall_clock.abs_diff(took) > SET {
            return;
        }
        let Some((boot_id, host)) = self.machine.clone() else {
            return;
        };
        let there = answer.sent.saturating_sub(answer.received);
        let whole = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        // A store whose clock was set meanwhile may say anything.
        let Some(way) = whole
            .checked_sub(there)
            .filter(|_| answer.sent >= answer.received)
        else {
            return;
        };
        self.reading = Some(ReferenceClock {
            taken,
            unix_nanos: answer.sent.saturating_add(way / 2),
            error: way.div_ceil(2),
            boot_id,
            host,
        });
    }

    /// What the store's clock showed, if it was read since the last call.
    pub fn reading(&mut self) -> Option<ReferenceClock> {
        self.reading.take()
    }
}

impl Sender {
    /// Asks what time it is there, if that is due and nothing else waits to be sent.
    pub(super) fn ask_time(&mut self) -> Result<(), (&'static str, io::Error)> {
        let (Some(channel), Some(session)) = (self.link.channel(), &self.session) else {
            return Ok(());
        };
        if !self.is_welcome || !session.window.is_between_batches() {
            return Ok(());
        }
        let Some(question) = self.clock.due() else {
            return Ok(());
        };
        channel.say(&WireMessage::Beat(Beat {
            question: Some(question),
            ..Beat::default()
        }));
        let failed = |error| ("send to", error);
        let mut may_come = channel.send_messages().map_err(failed)?;
        let (begun, wait) = (Instant::now(), self.clock.wait());
        while may_come && self.clock.waits() {
            let left = wait.saturating_sub(begun.elapsed());
            let channel = self.link.channel();
            may_come = !left.is_zero() && channel.is_some_and(|channel| channel.wait(left));
            if may_come {
                self.receive()?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn begun() -> ClockQuestions {
        let mut questions = ClockQuestions::default();
        assert_eq!(
            questions.due(),
            None,
            "a store that tells no time is not asked"
        );
        questions.begin(Some(("boot".into(), "store".into())));
        questions
    }

    #[test]
    fn an_answer_is_as_exact_as_the_way_is_long() {
        let mut questions = begun();
        // Between its looks at two clocks this thread may stand still, which is no reading.
        let (reading, longest) = loop {
            questions.begin(Some(("boot".into(), "store".into())));
            let before = Instant::now();
            let asked = questions.due().unwrap();
            assert!(questions.waits() && questions.due().is_none());
            questions.take(ClockAnswer {
                asked,
                received: 1_004_999,
                sent: 1_005_000,
            });
            let longest = u64::try_from(before.elapsed().as_nanos()).unwrap();
            if let Some(reading) = questions.reading() {
                break (reading, longest);
            }
        };
        assert!(!questions.waits() && questions.reading().is_none());
        assert!(reading.error <= longest.div_ceil(2), "{reading:?}");
        let way = reading.unix_nanos - 1_005_000;
        assert!(way.abs_diff(reading.error) <= 1, "{reading:?}");
        assert_eq!((&reading.boot_id[..], &reading.host[..]), ("boot", "store"));
    }

    #[test]
    fn what_answers_no_question_or_cannot_be_is_passed_over() {
        let mut questions = begun();
        let asked = questions.due().unwrap();
        let answer = |asked, received, sent| ClockAnswer {
            asked,
            received,
            sent,
        };
        questions.take(answer(asked + 1, 5, 6));
        assert!(questions.waits() && questions.reading().is_none());
        // More time has passed there than here.
        questions.take(answer(asked, 0, u64::MAX));
        assert!(questions.reading().is_none());
        // Once more, by a clock that was set back.
        questions.begin(Some(("boot".into(), "store".into())));
        let asked = questions.due().unwrap();
        questions.take(answer(asked, 6, 5));
        assert!(questions.reading().is_none());
        // An answer over another connection.
        questions.begin(Some(("boot".into(), "store".into())));
        questions.take(answer(asked, 5, 5));
        assert!(questions.reading().is_none());
    }
}
