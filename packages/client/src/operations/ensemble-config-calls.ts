import { ArgumentError, checkArgument, rules } from "@zooid/model";
import type { Observable } from "rxjs";
import type { CallOptions } from "../calls/call.ts";
import { GET_DATA, RECONFIG } from "../calls/operation.ts";
import {
  CONFIG_PATH,
  type ConfigChange,
  type EnsembleConfig,
  parseEnsembleConfig,
} from "../servers/ensemble-config.ts";
import { DATA, type Observations } from "../streams/observe.ts";
import { rxjs } from "../streams/rxjs-module.ts";
import type { ReadOptions } from "./node-options.ts";
import * as SHAPES from "./option-shapes.ts";
import { checkOptions } from "./option-shapes.ts";
import type { ViewPlace } from "./view-place.ts";

/** The ensemble's configuration lies outside of every chroot and namespace. */

export async function readEnsembleConfig({ driver, view }: ViewPlace, options?: ReadOptions): Promise<EnsembleConfig> {
  const place = { path: CONFIG_PATH, shownPath: CONFIG_PATH, body: undefined };
  const syncPath = options?.sync === true ? CONFIG_PATH : undefined;
  const limits = view.limitsOf(options);
  return parseEnsembleConfig(await view.ask(driver, { operation: GET_DATA, ...place, syncPath, options: limits }));
}

export function observeEnsembleConfig(observations: Observations): Observable<EnsembleConfig> {
  const { defer, filter, map } = rxjs();
  return defer(() => observations.of(DATA, CONFIG_PATH)).pipe(
    map(({ value }) => (value === null ? undefined : parseEnsembleConfig(value, "config$"))),
    filter((config) => config !== undefined),
  );
}

export async function changeEnsembleConfig(
  { driver, view }: ViewPlace,
  change: ConfigChange,
  options?: CallOptions,
): Promise<EnsembleConfig> {
  const place = { path: CONFIG_PATH, shownPath: "", body: change };
  const limits = view.limitsOf(options);
  return parseEnsembleConfig(await view.ask(driver, { operation: RECONFIG, ...place, options: limits }), "reconfig");
}

/**
 * A change is incremental, with `joining` or `leaving` or both, or it lists all `members`.
 *
 * @throws ArgumentError
 */
export function checkConfigChange(change: ConfigChange): void {
  checkArgument("reconfig", "the change", change, rules.record);
  checkOptions("reconfig", undefined, change, SHAPES.CONFIG_CHANGE);
  const { joining, leaving, members } = change;
  const isIncremental = joining !== undefined || leaving !== undefined;
  if (isIncremental !== (members !== undefined)) return;
  const problem = isIncremental ? "members excludes joining and leaving" : "a change has joining, leaving or members";
  throw new ArgumentError("reconfig", [problem]);
}
