/** The facts of a machine. A fact that could not be looked up is undefined. */
export interface MachineFacts {
  readonly directories: readonly DirectoryFacts[];
  readonly memory: MemoryFacts;
  readonly processor: ProcessorFacts;
  /** Descriptors that a process of the server may have open. */
  readonly descriptorsMax: number | undefined;
  /** Whether the clock follows a time server. */
  readonly isClockSynchronized: boolean | undefined;
}

export interface DirectoryFacts {
  readonly path: string;
  /** Settings that name it: `dataDir`, `dataLogDir`. */
  readonly uses: readonly string[];
  /** As /proc/mounts calls it: `ext4`, `tmpfs`, `overlay`, `nfs4`. */
  readonly fileSystem: string | undefined;
  readonly bytes: number | undefined;
  readonly freeBytes: number | undefined;
  /** Times of synced writes of 4 KiB, ascending; empty where none was tried. */
  readonly syncMs: readonly number[];
  /** The reason why the user of this check can neither make nor write it; undefined: it can. */
  readonly fault?: DirectoryFault | undefined;
}

export interface DirectoryFault {
  readonly reason: string;
  readonly remedy: string;
}

export interface MemoryFacts {
  readonly totalBytes: number | undefined;
  /** That of the control group; undefined without one. */
  readonly limitBytes: number | undefined;
  /** The greatest size of the tree, `zooid.heldBytesMax`. */
  readonly heldBytesMax: number | undefined;
  /** Memory of the server's process that is in swap, if it runs. */
  readonly swappedBytes: number | undefined;
}

export interface ProcessorFacts {
  /** Periods of the control group's quota so far, and those in which it was used up. */
  readonly periods: number | undefined;
  readonly throttledPeriods: number | undefined;
}
