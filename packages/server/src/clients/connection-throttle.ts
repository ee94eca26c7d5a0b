import { isDeepStrictEqual } from "node:util";

/** Rate limit of new connections: a token bucket. */
export interface ConnectionThrottleOptions {
  /** Tokens that the bucket holds; 0 is no limit. Default 0. */
  readonly tokens?: number;
  /** Milliseconds after which `fillCount` tokens are put back. Default 1. */
  readonly fillMs?: number;
  /** Default 1. */
  readonly fillCount?: number;
  /**
   * Interval, in milliseconds, in which the drop probability changes; -1: connections are dropped
   * only without tokens. Default -1.
   */
  readonly freezeMs?: number;
  /** An empty bucket adds this to the drop probability. Default 0.02. */
  readonly dropIncrease?: number;
  /** A bucket that is full enough subtracts this from it. Default 0.002. */
  readonly dropDecrease?: number;
  /** A bucket is full enough if at most this share of it is used. Default 0. */
  readonly decreaseRatio?: number;
  /**
   * Whether the kind of the session counts; otherwise each connection takes one token. Default
   * false.
   */
  readonly isWeighted?: boolean;
  /**
   * Tokens for a new session of the ensemble, a new local one, and one that is resumed. Defaults 3,
   * 1, 2.
   */
  readonly globalWeight?: number;
  readonly localWeight?: number;
  readonly renewWeight?: number;
}

export type ConnectionThrottleConfig = Required<ConnectionThrottleOptions>;

/** The kind of session that a connection requests. */
export type Connecting = "global" | "local" | "renew";

const DEFAULTS: ConnectionThrottleConfig = {
  tokens: 0,
  fillMs: 1,
  fillCount: 1,
  freezeMs: -1,
  dropIncrease: 0.02,
  dropDecrease: 0.002,
  decreaseRatio: 0,
  isWeighted: false,
  globalWeight: 3,
  localWeight: 1,
  renewWeight: 2,
};
const COUNT_MAX = 2 ** 31 - 1;

/** Validates options and fills in defaults. */
export function parseConnectionThrottle(
  options: ConnectionThrottleOptions,
  problems: string[],
): ConnectionThrottleConfig {
  const config = { ...DEFAULTS, ...options };
  const count = (name: string, value: number, min: number): void => {
    if (!Number.isInteger(value) || value < min || value > COUNT_MAX)
      problems.push(`connection_throttle_${name} is a whole number from ${min} to ${COUNT_MAX}, found ${value}`);
  };
  const ratio = (name: string, value: number): void => {
    if (!(value >= 0 && value <= 1)) problems.push(`connection_throttle_${name} is from 0 to 1, found ${value}`);
  };
  count("tokens", config.tokens, 0);
  count("fill_time", config.fillMs, 1);
  count("fill_count", config.fillCount, 0);
  count("freeze_time", config.freezeMs, -1);
  ratio("drop_increase", config.dropIncrease);
  ratio("drop_decrease", config.dropDecrease);
  ratio("decrease_ratio", config.decreaseRatio);
  count("global_session_weight", config.globalWeight, 1);
  count("local_session_weight", config.localWeight, 1);
  count("renew_session_weight", config.renewWeight, 1);
  return config;
}

/**
 * Decides which clients may connect. Beside the bucket there is a drop probability that grows while
 * the bucket is empty and shrinks while it is nearly full, so that a flood is thinned out before
 * all of it meets an empty bucket (BLUE: Feng, Kandlur, Saha, Shin, 1999).
 */
export class ConnectionThrottle {
  #config: ConnectionThrottleConfig;
  /** At least 0, below 1. */
  readonly #random: () => number;
  #tokens: number;
  #filledMs: number;
  #movedMs: number;
  #dropChance = 0;

  constructor(config: ConnectionThrottleConfig, nowMs: number, random: () => number) {
    this.#config = config;
    this.#random = random;
    this.#tokens = config.tokens;
    this.#filledMs = nowMs;
    this.#movedMs = nowMs;
  }

  /** Another configuration, whose bucket is full; with the same one nothing changes. */
  change(config: ConnectionThrottleConfig, nowMs: number): void {
    if (isDeepStrictEqual(config, this.#config)) return;
    this.#config = config;
    this.#tokens = config.tokens;
    this.#filledMs = nowMs;
    if (config.tokens === 0 || config.freezeMs < 0) this.#dropChance = 0;
  }

  /** The probability that a connection is dropped while there are tokens; from 0 to 1. */
  get dropChance(): number {
    return this.#dropChance;
  }

  /** Takes the tokens of one connection. @returns false if the connection is to be closed */
  admits(asking: Connecting, nowMs: number): boolean {
    const { tokens, freezeMs } = this.#config;
    if (tokens === 0) return true;
    this.#fill(nowMs);
    if (freezeMs >= 0 && this.#isDropped(nowMs)) return false;
    const need = this.#weight(asking);
    if (this.#tokens < need) return false;
    this.#tokens -= need;
    return true;
  }

  #weight(asking: Connecting): number {
    const { isWeighted, globalWeight, localWeight, renewWeight } = this.#config;
    if (!isWeighted) return 1;
    if (asking === "renew") return renewWeight;
    return asking === "local" ? localWeight : globalWeight;
  }

  #fill(nowMs: number): void {
    const { fillMs, fillCount, tokens } = this.#config;
    const fillings = Math.floor((nowMs - this.#filledMs) / fillMs);
    if (fillings <= 0) return;
    this.#tokens = Math.min(tokens, this.#tokens + fillings * fillCount);
    this.#filledMs += fillings * fillMs;
  }

  #isDropped(nowMs: number): boolean {
    const { tokens, freezeMs, dropIncrease, dropDecrease, decreaseRatio } = this.#config;
    if (nowMs - this.#movedMs > freezeMs) {
      const gone = tokens - this.#tokens;
      if (gone === tokens) this.#dropChance = Math.min(1, this.#dropChance + dropIncrease);
      else if (gone <= tokens * decreaseRatio) this.#dropChance = Math.max(0, this.#dropChance - dropDecrease);
      this.#movedMs = nowMs;
    }
    return this.#random() < this.#dropChance;
  }
}
