/**
 * How a client learns that something in a tree has changed. `persistent`: by one recursive watch, which servers know from 3.6 on; on an older
 * one the stream ends with UNIMPLEMENTED. `one-shot`: by two watches for each node, which every server knows. `auto`: by the first where the
 * server knows it, else by the second.
 */
export type TreeWatches = "auto" | "persistent" | "one-shot";
