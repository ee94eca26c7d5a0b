/**
 * In place of an ensemble's id, in the log of a server that follows an Apache ensemble. Its history
 * is Apache's: an ordinary server would continue it beside Apache.
 */
export const FOLLOWER_ID = "follows-apache";
