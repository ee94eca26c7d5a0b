export const WatchEventType = {
  NODE_CREATED: 1,
  NODE_DELETED: 2,
  NODE_DATA_CHANGED: 3,
  NODE_CHILDREN_CHANGED: 4,
} as const;
export type WatchEventType = (typeof WatchEventType)[keyof typeof WatchEventType];

/** How long a watch lives and how far it sees. Modes of one connection on one path coexist and are removed independently. */
export const WatchMode = { STANDARD: 1, PERSISTENT: 2, PERSISTENT_RECURSIVE: 4 } as const;
export type WatchMode = (typeof WatchMode)[keyof typeof WatchMode];

/** The two tables of watches: what reads of data and existence arm, and what listings arm. */
export const WatchTableKind = { DATA: 0, CHILD: 1 } as const;
export type WatchTableKind = (typeof WatchTableKind)[keyof typeof WatchTableKind];
