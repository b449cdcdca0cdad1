//! Which methods there are, who may send them, and which definitions say what they look like.
//!
//! Owns the names. Whether a method exists in a revision is what the revision's definitions say; see `rules`.

use crate::names::Revision;
use crate::recording::Dir;

/// Who sends a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Who {
    /// Clients.
    Client,
    /// Servers.
    Server,
    /// Both.
    Both,
    /// Both, but in the modern era servers only.
    BothUntilModern,
}

impl Who {
    /// Whether `direction` is one in which it is sent in `revision`.
    #[must_use]
    pub fn sends(self, direction: Dir, revision: Revision) -> bool {
        let is_client = direction == Dir::ClientToServer;
        match self {
            Who::Client => is_client,
            Who::Server => !is_client,
            Who::Both => true,
            Who::BothUntilModern => !is_client || revision.is_legacy(),
        }
    }
}

/// Method, who sends it, the definition of the request, the definition of its result.
type RequestRow = (&'static str, Who, &'static str, &'static str);

const REQUESTS: &[RequestRow] = &[
    (
        "initialize",
        Who::Client,
        "InitializeRequest",
        "InitializeResult",
    ),
    (
        "server/discover",
        Who::Client,
        "DiscoverRequest",
        "DiscoverResult",
    ),
    ("ping", Who::Both, "PingRequest", "Result"),
    (
        "tools/list",
        Who::Client,
        "ListToolsRequest",
        "ListToolsResult",
    ),
    (
        "tools/call",
        Who::Client,
        "CallToolRequest",
        "CallToolResult",
    ),
    (
        "prompts/list",
        Who::Client,
        "ListPromptsRequest",
        "ListPromptsResult",
    ),
    (
        "prompts/get",
        Who::Client,
        "GetPromptRequest",
        "GetPromptResult",
    ),
    (
        "resources/list",
        Who::Client,
        "ListResourcesRequest",
        "ListResourcesResult",
    ),
    (
        "resources/templates/list",
        Who::Client,
        "ListResourceTemplatesRequest",
        "ListResourceTemplatesResult",
    ),
    (
        "resources/read",
        Who::Client,
        "ReadResourceRequest",
        "ReadResourceResult",
    ),
    (
        "resources/subscribe",
        Who::Client,
        "SubscribeRequest",
        "Result",
    ),
    (
        "resources/unsubscribe",
        Who::Client,
        "UnsubscribeRequest",
        "Result",
    ),
    (
        "subscriptions/listen",
        Who::Client,
        "SubscriptionsListenRequest",
        "SubscriptionsListenResult",
    ),
    (
        "completion/complete",
        Who::Client,
        "CompleteRequest",
        "CompleteResult",
    ),
    ("logging/setLevel", Who::Client, "SetLevelRequest", "Result"),
    (
        "elicitation/create",
        Who::Server,
        "ElicitRequest",
        "ElicitResult",
    ),
    (
        "sampling/createMessage",
        Who::Server,
        "CreateMessageRequest",
        "CreateMessageResult",
    ),
    (
        "roots/list",
        Who::Server,
        "ListRootsRequest",
        "ListRootsResult",
    ),
    ("tasks/get", Who::Both, "GetTaskRequest", "GetTaskResult"),
    (
        "tasks/result",
        Who::Both,
        "GetTaskPayloadRequest",
        "GetTaskPayloadResult",
    ),
    (
        "tasks/cancel",
        Who::Both,
        "CancelTaskRequest",
        "CancelTaskResult",
    ),
    (
        "tasks/list",
        Who::Both,
        "ListTasksRequest",
        "ListTasksResult",
    ),
];

/// Method, who sends it, the definition of the notification.
type NotificationRow = (&'static str, Who, &'static str);

const NOTIFICATIONS: &[NotificationRow] = &[
    (
        "notifications/initialized",
        Who::Client,
        "InitializedNotification",
    ),
    (
        "notifications/cancelled",
        Who::Both,
        "CancelledNotification",
    ),
    (
        "notifications/progress",
        Who::BothUntilModern,
        "ProgressNotification",
    ),
    (
        "notifications/roots/list_changed",
        Who::Client,
        "RootsListChangedNotification",
    ),
    (
        "notifications/tools/list_changed",
        Who::Server,
        "ToolListChangedNotification",
    ),
    (
        "notifications/prompts/list_changed",
        Who::Server,
        "PromptListChangedNotification",
    ),
    (
        "notifications/resources/list_changed",
        Who::Server,
        "ResourceListChangedNotification",
    ),
    (
        "notifications/resources/updated",
        Who::Server,
        "ResourceUpdatedNotification",
    ),
    (
        "notifications/message",
        Who::Server,
        "LoggingMessageNotification",
    ),
    (
        "notifications/elicitation/complete",
        Who::Server,
        "ElicitationCompleteNotification",
    ),
    (
        "notifications/tasks/status",
        Who::Both,
        "TaskStatusNotification",
    ),
    (
        "notifications/subscriptions/acknowledged",
        Who::Server,
        "SubscriptionsAcknowledgedNotification",
    ),
];

/// All requests: method, who sends it, definition, definition of the result.
pub fn requests() -> impl Iterator<Item = RequestRow> {
    REQUESTS.iter().copied()
}

/// All notifications: method, who sends it, definition.
pub fn notifications() -> impl Iterator<Item = NotificationRow> {
    NOTIFICATIONS.iter().copied()
}

/// The definition of the request with that method, if somebody sends it in that direction.
pub(super) fn request(method: &str, direction: Dir, revision: Revision) -> Option<&'static str> {
    // Requests of a server travel inside results since 2026-07-28, and are no messages of their own.
    if direction == Dir::ServerToClient && !revision.is_legacy() {
        return None;
    }
    REQUESTS
        .iter()
        .find(|row| row.0 == method && row.1.sends(direction, revision))
        .map(|row| row.2)
}

/// The definition of the notification with that method, if somebody sends it in that direction.
pub(super) fn notification(
    method: &str,
    direction: Dir,
    revision: Revision,
) -> Option<&'static str> {
    NOTIFICATIONS
        .iter()
        .find(|row| row.0 == method && row.1.sends(direction, revision))
        .map(|row| row.2)
}

/// The definition of the result of a request with that method.
pub(super) fn result(method: &str) -> Option<&'static str> {
    REQUESTS.iter().find(|row| row.0 == method).map(|row| row.3)
}
