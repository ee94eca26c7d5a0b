import { type AdminPlace, askAdminAt } from "../admin-port.ts";
import { CliError } from "../cli-error.ts";
import type { JsonObject } from "../output.ts";
import type { Failed } from "./acts.ts";

/** A refusal that is sure: nothing was done. A server that refuses for now may have begun. */
const REFUSED_FROM = 400;
const REFUSED_TO = 499;

/** The fields of an admin port's answer, or why there are none. */
export async function adminAct(
  place: AdminPlace,
  path: string,
  asked: { readonly method: "GET" | "POST"; readonly signal: AbortSignal },
): Promise<JsonObject | Failed> {
  const { origin } = place.base;
  try {
    const { status, fields, error } = await askAdminAt(place, path, asked);
    if (error === undefined && status === 200) return fields;
    const isRefused = status === 200 || (status >= REFUSED_FROM && status <= REFUSED_TO);
    const reason = error ?? `status ${status}`;
    const hint = status === 401 || status === 403 ? "; set ZOOID_ADMIN_AUTH, or give --admin-auth" : "";
    return { kind: "failed", isRefused, reason: `${origin} refuses: ${reason}${hint}` };
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    return { kind: "failed", isRefused: false, reason: error.message };
  }
}

export function isFailed(found: object): found is Failed {
  return "kind" in found && found.kind === "failed";
}
