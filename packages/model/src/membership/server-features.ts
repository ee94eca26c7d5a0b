/**
 * How a client learns of operations that only Zooid's servers have. Every ZooKeeper server closes
 * the connection upon an operation that it does not know, so asking by trying would cost the
 * session its connection. A read of this path is harmless at every server: others answer NO_NODE.
 * No node is there, and none is listed.
 */
export const SERVER_FEATURES_PATH = "/zookeeper/zooid";

/** The words that a server of this version answers, separated by spaces. */
export const SERVER_FEATURES = "child-pages";

/** One more word of a server that keeps a history and answers questions about the past. */
export const HISTORY_FEATURE = "history";

/** One more word: the feature level that this server has applied, as `level-1`. It never falls. */
export function levelFeature(level: number): string {
  return `level-${level}`;
}

/** The level in the words of a server; undefined from a server that names none. */
export function levelInFeatures(words: string): number | undefined {
  const [, level] = /(?:^| )level-(\d{1,9})(?: |$)/.exec(words) ?? [];
  return level === undefined ? undefined : Number(level);
}
