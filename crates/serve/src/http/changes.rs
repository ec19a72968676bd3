//! Tells of changes of the list of logs: traces that come, grow, end and go.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::State as Shared;
use serde::Serialize;
use tokio::sync::mpsc::channel;
use tokio::task::spawn_blocking;
use tokio::time::sleep;
use utoipa::ToSchema;

use super::api::{LogList, LogObject, log_list};
use super::state::ServerState;
use super::streams::{EventStream, WAITING, answer, event};

/// How often the list is looked at.
const OFTEN: Duration = Duration::from_secs(1);

/// How the list of logs has changed.
#[derive(Debug, Serialize, ToSchema)]
pub struct ListChange {
    /// Logs that are new, or of which something else is known now.
    pub changed: Vec<LogObject>,
    /// The ids of logs that are gone.
    pub removed: Vec<String>,
}

/// Follows the list of logs. The answer is a stream of events `changed`: the first one has all
/// logs, each further one those that are new or changed, and the ids of those that are gone.
#[utoipa::path(get, path = "/api/changes",
    responses((status = 200, content_type = "text/event-stream", body = ListChange)))]
pub async fn changes(Shared(state): Shared<Arc<ServerState>>) -> EventStream {
    let (sender, receiver) = channel(WAITING);
    tokio::spawn(async move {
        let mut known = BTreeMap::new();
        let mut is_first = true;
        loop {
            let looking = Arc::clone(&state);
            let Ok(now) = spawn_blocking(move || log_list(&looking)).await else {
                return;
            };
            let change = changed(&mut known, now);
            let is_new = !change.changed.is_empty() || !change.removed.is_empty();
            if std::mem::take(&mut is_first) || is_new {
                let part = Ok(event("changed", &change));
                if sender.send(part).await.is_err() {
                    return;
                }
            }
            tokio::select! {
                () = sleep(OFTEN) => {}
                () = sender.closed() => return,
            }
        }
    });
    answer(receiver)
}

/// What is new in a list, by what was known before.
fn changed(known: &mut BTreeMap<String, LogObject>, now: LogList) -> ListChange {
    let mut before = std::mem::take(known);
    let mut changed = Vec::new();
    for log in now.logs {
        if before.remove(&log.id).as_ref() != Some(&log) {
            changed.push(log.clone());
        }
        known.insert(log.id.clone(), log);
    }
    let removed = before.into_keys().collect();
    ListChange { changed, removed }
}
