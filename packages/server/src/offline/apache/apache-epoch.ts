import { EPOCH_ALARM, EPOCH_MAX } from "@zooid/model";
import { APACHE_EPOCH_GAP } from "@zooid/txn-log/sqlite";

/** The epoch that Apache's servers are given with the data of a Zooid ensemble. */
export interface ApacheEpoch {
  readonly epoch: number;
  /** One sentence where few epochs are left. */
  readonly warning: string | undefined;
}

/**
 * A Zooid server that is started again does not come to zxids of Apache's new history, as little as
 * Apache's servers come to those of an import.
 *
 * @param epochMax the highest epoch that one of the servers knows
 * @returns a sentence where no epoch is left
 */
export function apacheEpochAbove(epochMax: number): ApacheEpoch | string {
  const epoch = epochMax + APACHE_EPOCH_GAP;
  if (epoch >= EPOCH_MAX)
    return (
      `the highest epoch is ${epochMax}, and Apache's history would begin ${APACHE_EPOCH_GAP} above it, at ${epoch}: ` +
      `the last epoch is ${EPOCH_MAX - 1}; export the data by a client, and import them in the same way`
    );
  const warning =
    epoch < EPOCH_ALARM
      ? undefined
      : `Apache's history begins at epoch ${epoch}, and the last one from which Zooid can take over again is ${EPOCH_MAX - 1}: each election takes one`;
  return { epoch, warning };
}
