import { parseServerLine, type ServerLine } from "@zooid/model";
import { type EnsembleLimits, type EnsembleSettings, NO_ENSEMBLE } from "./ensemble-settings.ts";
import { hostProblem, trueOrFalse } from "./key-values.ts";
import type { EnsembleSetter, Mutable } from "./keys/key-rule.ts";

export const SERVER_KEY: RegExp = /^server\.\d+$/;
export const GROUP_KEY: RegExp = /^group\.(\d+)$/;
export const WEIGHT_KEY: RegExp = /^weight\.(\d+)$/;

/** ZooKeeper's sample and its images give these to a single server too: worth no line. */
const IN_EVERY_FILE = /^(?:initLimit|syncLimit)\b/;

/** Gathers what is said of other servers. */
export class EnsembleDraft {
  readonly #servers = new Map<string, ServerLine>();
  readonly #groups = new Map<number, readonly number[]>();
  readonly #weights = new Map<number, number>();
  readonly #limits: Mutable<EnsembleLimits> = {};
  readonly #keys: string[] = [];
  readonly #problems: string[] = [];
  #isStandaloneEnabled: boolean | undefined;

  /** Takes the keys that name a server or a group; says what is wrong with the value of one. */
  take(key: string, value: string, where: string): "taken" | "not mine" | string {
    if (SERVER_KEY.test(key)) {
      const line = parseServerLine(value);
      if (typeof line === "string") return line;
      const problem = [line.host, line.clientAddress?.host].map((host) => host && hostProblem(host)).find(Boolean);
      if (problem) return problem;
      this.#servers.set(key, line);
      return "taken";
    }
    const group = GROUP_KEY.exec(key)?.[1];
    if (group !== undefined) {
      if (!/^\d+(:\d+)*$/.test(value)) return `names servers by their numbers, like 1:2:3, found "${value}"`;
      this.#groups.set(Number(group), value.split(":").map(Number));
      return "taken";
    }
    const weight = WEIGHT_KEY.exec(key)?.[1];
    if (weight !== undefined) {
      if (!/^\d+$/.test(value)) return `is a whole number, found "${value}"`;
      this.#weights.set(Number(weight), Number(value));
      return "taken";
    }
    if (key === "standaloneEnabled") {
      const enabled = trueOrFalse(value);
      if (enabled === undefined) return `is true or false, found "${value}"`;
      this.#isStandaloneEnabled = enabled;
      return "taken";
    }
    // Safe to ignore without other voters.
    if (key.replace(/^zookeeper\./, "") === "db.autocreate") {
      this.#keys.push(`${key} (${where})`);
      if (value.toLowerCase() !== "true") {
        this.#problems.push(
          `${key} (${where}) asks that a server without data does not vote until a file says so, which is not supported yet`,
        );
      }
      return "taken";
    }
    return "not mine";
  }

  set(key: string, set: EnsembleSetter, value: string, problems: string[]): void {
    if (!IN_EVERY_FILE.test(key)) this.#keys.push(key);
    const problem = set(this.#limits, value);
    if (problem !== undefined) problems.push(`${key} ${problem}`);
  }

  settings(): EnsembleSettings {
    return {
      ...NO_ENSEMBLE,
      servers: this.#servers,
      groups: this.#groups,
      weights: this.#weights,
      limits: this.#limits,
      isStandaloneEnabled: this.#isStandaloneEnabled,
      keys: this.#keys,
      problems: this.#problems,
    };
  }
}
