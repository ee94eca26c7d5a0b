import type { RequestDecoder, TxnBatcher, TxnDecoder } from "@zooid/model";
import type { Hashes, SaslExchange } from "./auth/auth-schemes.ts";

/** The machines that turn bytes into values and back, and the platform's hash functions. */
export interface ReplicaTools {
  readonly requests: RequestDecoder;
  readonly batcher: TxnBatcher;
  readonly txns: TxnDecoder;
  /** Another one, for entries that are not applied yet. */
  readonly entries: TxnDecoder;
  readonly hashes: Hashes;
  /**
   * Begins a connection's SASL exchange. Absent: the server knows no users, and answers with an
   * empty token.
   */
  readonly sasl?: () => SaslExchange;
  /** At least 0, below 1. Nothing that has to be secret. */
  readonly random: () => number;
}
