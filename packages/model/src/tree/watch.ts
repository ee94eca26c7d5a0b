export const WatchEventType = {
  NODE_CREATED: 1,
  NODE_DELETED: 2,
  NODE_DATA_CHANGED: 3,
  NODE_CHILDREN_CHANGED: 4,
} as const;
export type WatchEventType = (typeof WatchEventType)[keyof typeof WatchEventType];

/**
 * How long a watch lives and how far it sees. Modes of one connection on one path coexist and are
 * removed independently.
 */
export const WatchMode = { STANDARD: 1, PERSISTENT: 2, PERSISTENT_RECURSIVE: 4 } as const;
export type WatchMode = (typeof WatchMode)[keyof typeof WatchMode];

/**
 * The modes that addWatch names. Their numbers are the protocol's and not those of {@link
 * WatchMode}.
 */
export const AddWatchMode = { PERSISTENT: 0, PERSISTENT_RECURSIVE: 1 } as const;
export type AddWatchMode = (typeof AddWatchMode)[keyof typeof AddWatchMode];

export function isAddWatchMode(mode: number): mode is AddWatchMode {
  return mode === AddWatchMode.PERSISTENT || mode === AddWatchMode.PERSISTENT_RECURSIVE;
}

/**
 * The selectors of checkWatches and removeWatches; `CHILDREN` and `DATA` mean one-shot watches
 * only, `ANY` every mode.
 */
export const WatchSelector = { CHILDREN: 1, DATA: 2, ANY: 3, PERSISTENT: 4, PERSISTENT_RECURSIVE: 5 } as const;
export type WatchSelector = (typeof WatchSelector)[keyof typeof WatchSelector];

export function isWatchSelector(type: number): type is WatchSelector {
  return type >= WatchSelector.CHILDREN && type <= WatchSelector.PERSISTENT_RECURSIVE;
}

/** The two tables of watches: what reads of data and existence arm, and what listings arm. */
export const WatchTableKind = { DATA: 0, CHILD: 1 } as const;
export type WatchTableKind = (typeof WatchTableKind)[keyof typeof WatchTableKind];
