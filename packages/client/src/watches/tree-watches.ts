/**
 * How a client learns of changes in a tree. `persistent`: by one recursive watch, which servers
 * support from 3.6 on; on older ones the stream ends with UNIMPLEMENTED. `one-shot`: by two watches
 * for each node, which every server supports. `auto`: the first where the server supports it, else
 * the second.
 */
export type TreeWatches = "auto" | "persistent" | "one-shot";
