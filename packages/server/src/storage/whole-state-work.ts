/** Work that rewrites or replaces the whole state while the server runs. */
export interface WholeStateWork {
  /** A purge of the history. */
  readonly isPurging: boolean;
  /** A snapshot that an operator sends. */
  readonly isReceiving: boolean;
  /** A state of the past, from the backup. */
  readonly isRestoring: boolean;
  /** The state of an Apache ensemble becomes this one's, or is dropped. */
  readonly isTakingOver: boolean;
}

/**
 * Why no other such work may begin now; undefined: it may. One is under way at a time: each reads
 * the files that another replaces.
 */
export function workUnderWay({
  isPurging,
  isReceiving,
  isRestoring,
  isTakingOver,
}: WholeStateWork): string | undefined {
  if (isPurging) return "a purge is under way: purge_status says how it ends";
  if (isReceiving) return "a snapshot is being restored";
  if (isTakingOver) return "a state is being taken over, or dropped: the command standby says how far it is";
  return isRestoring ? "a restore is under way: restore_state_status says how it ends" : undefined;
}
