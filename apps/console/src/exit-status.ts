/** As other programs of Zooid end. */
export const ExitStatus = { OK: 0, FAILED: 1, USAGE: 2 } as const;
