//! Looks at logs that somebody follows: once for all who follow one.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::Serialize;
use tokio::sync::watch::{Receiver, Sender, channel};
use tokio::time::sleep;
use utoipa::ToSchema;

use crate::error::Result;
use crate::logs::{LogHandle, Trouble};
use crate::read::{Lacks, Moment};

/// How often a log is looked at that somebody follows.
const OFTEN: Duration = Duration::from_millis(25);

/// How far a log has grown.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Growth {
    /// Changes when lines are numbered anew.
    pub version: u64,
    /// How many lines it has; null while it is being indexed.
    pub lines: Option<u64>,
    /// How many of these are of important events, which come first.
    pub important: Option<u64>,
    /// The time of the last event.
    pub last: Option<Moment>,
    /// What it is known to lack.
    #[serde(flatten)]
    pub lacks: Lacks,
    /// Why nothing is added at present; null if all is well.
    pub trouble: Option<Trouble>,
    /// Whether more may come.
    pub growing: bool,
}

impl Growth {
    pub fn of(log: &LogHandle) -> Result<Growth> {
        let version = log.version()?;
        let lines = log.ready().is_ok().then(|| version.lines());
        Ok(Growth {
            version: version.number,
            lines: lines.map(|lines| lines.total),
            important: lines.map(|lines| lines.important),
            last: version.archive().times().map(|(_, last)| Moment::of(last)),
            lacks: Lacks::of(version.archive()),
            trouble: log.trouble(),
            growing: version.growing,
        })
    }
}

/// What a follower is told: how far the log is, or why nobody knows any more.
pub type FollowerMessage = std::result::Result<Growth, String>;

/// Whether nothing is told behind this.
pub fn is_last(told: &FollowerMessage) -> bool {
    !told.as_ref().is_ok_and(|growth| growth.growing)
}

/// Those who follow logs, by the names of these.
#[derive(Default)]
pub struct Followers(Mutex<HashMap<String, Sender<FollowerMessage>>>);

impl Followers {
    /// What is told of a log from now on, the newest first. `look` looks at it, unless somebody
    /// does already; `first` is what was found just now.
    pub fn join<F>(
        self: &Arc<Self>,
        id: &str,
        first: FollowerMessage,
        look: impl Fn() -> F + Send + Sync + 'static,
    ) -> Receiver<FollowerMessage>
    where
        F: Future<Output = FollowerMessage> + Send + 'static,
    {
        let mut all = self.lock();
        if let Some(sender) = all.get(id) {
            return sender.subscribe();
        }
        let is_over = is_last(&first);
        let (sender, receiver) = channel(first);
        if !is_over {
            all.insert(id.into(), sender.clone());
            tokio::spawn(Arc::clone(self).watch(id.to_string(), sender, look));
        }
        receiver
    }

    /// Looks at a log until nobody follows it any more, or no more can come.
    async fn watch<F>(
        self: Arc<Self>,
        id: String,
        sender: Sender<FollowerMessage>,
        look: impl Fn() -> F,
    ) where
        F: Future<Output = FollowerMessage>,
    {
        loop {
            tokio::select! {
                () = sleep(OFTEN) => {}
                () = sender.closed() => {
                    let mut all = self.lock();
                    // Somebody may have come meanwhile.
                    if sender.receiver_count() == 0 {
                        all.remove(&id);
                        return;
                    }
                }
            }
            let now = look().await;
            let is_over = is_last(&now);
            if is_over {
                // Who comes from now on begins anew.
                self.lock().remove(&id);
            }
            sender.send_if_modified(|told| {
                let is_new = *told != now;
                *told = now;
                is_new
            });
            if is_over {
                return;
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Sender<FollowerMessage>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;

    fn growth(lines: u64, growing: bool) -> FollowerMessage {
        Ok(Growth {
            version: 1,
            lines: Some(lines),
            important: None,
            last: None,
            lacks: Lacks::default(),
            trouble: None,
            growing,
        })
    }

    fn run(test: impl Future<Output = ()>) {
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = runtime.enable_time().build().unwrap();
        runtime.block_on(test);
    }

    /// What is told up to the end.
    async fn told(mut receiver: Receiver<FollowerMessage>) -> Vec<u64> {
        let mut lines = Vec::new();
        loop {
            let now = receiver.borrow_and_update().clone();
            lines.extend(now.as_ref().unwrap().lines);
            if is_last(&now) {
                return lines;
            }
            receiver.changed().await.unwrap();
        }
    }

    #[test]
    fn a_log_is_looked_at_once_for_all_who_follow_it() {
        run(async {
            let followers = Arc::<Followers>::default();
            let looks = Arc::new(AtomicU64::new(0));
            let all: Vec<_> = (0..200)
                .map(|_| {
                    let looks = Arc::clone(&looks);
                    followers.join("log", growth(0, true), move || {
                        let lines = looks.fetch_add(1, Ordering::Relaxed) + 1;
                        async move { growth(lines, lines < 4) }
                    })
                })
                .collect();
            let all: Vec<_> = all.into_iter().map(|one| tokio::spawn(told(one))).collect();
            for one in all {
                assert_eq!(one.await.unwrap(), [0, 1, 2, 3, 4]);
            }
            assert_eq!(looks.load(Ordering::Relaxed), 4);
            assert!(followers.lock().is_empty());
        });
    }

    #[test]
    fn nobody_looks_at_a_log_that_nobody_follows_any_more() {
        run(async {
            let followers = Arc::<Followers>::default();
            let look = || async { growth(1, true) };
            let receiver = followers.join("log", growth(0, true), look);
            let other = followers.join("log", growth(0, true), look);
            drop(receiver);
            tokio::task::yield_now().await;
            assert_eq!(followers.lock().len(), 1);
            drop(other);
            while !followers.lock().is_empty() {
                tokio::task::yield_now().await;
            }
            // Who comes then is told anew.
            let ended = followers.join("log", growth(7, false), look);
            assert_eq!(told(ended).await, [7]);
        });
    }
}
