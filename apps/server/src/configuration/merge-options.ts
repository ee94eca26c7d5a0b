import type { ServerOptions } from "@zooid/embedded-server";
import type { Mutable } from "./keys/key-rule.ts";

/** Options of which later ones win, each with what it holds. */
export function mergeOptions(earlier: ServerOptions, later: ServerOptions): ServerOptions {
  return {
    ...earlier,
    ...later,
    ...mergedGroups(earlier, later),
    ...mergedAuth(earlier, later),
    ...mergedTls(earlier, later),
    ...mergedAdmin(earlier, later),
  };
}

/** Options that hold several settings, each of which may come from another place. */
const GROUPS = [
  "backup",
  "connectionThrottle",
  "disk",
  "history",
  "metrics",
  "reaping",
  "retention",
  "scrub",
  "standby",
] as const;

function mergedGroups(earlier: ServerOptions, later: ServerOptions): ServerOptions {
  const merged: Mutable<ServerOptions> = {};
  for (const group of GROUPS) {
    if (earlier[group] !== undefined) Object.assign(merged, { [group]: { ...earlier[group], ...later[group] } });
  }
  return merged;
}

function mergedAuth({ auth: earlier }: ServerOptions, { auth: later }: ServerOptions): Pick<ServerOptions, "auth"> {
  if (earlier === undefined || later === undefined) return {};
  const providers = { ...earlier.providers, ...later.providers };
  const saslSuperUsers = { ...earlier.saslSuperUsers, ...later.saslSuperUsers };
  return { auth: { ...earlier, ...later, providers, saslSuperUsers } };
}

function mergedAdmin({ admin: earlier }: ServerOptions, { admin: later }: ServerOptions): Pick<ServerOptions, "admin"> {
  if (earlier === undefined || later === undefined) return {};
  return { admin: { ...earlier, ...later, ...mergedTls(earlier, later) } };
}

type HasTls = Pick<ServerOptions, "tls">;

function mergedTls({ tls: earlier }: HasTls, { tls: later }: HasTls): HasTls {
  if (earlier === undefined || later === undefined) return {};
  const keyStore = { ...earlier.keyStore, ...later.keyStore };
  const trustStore = { ...earlier.trustStore, ...later.trustStore };
  return { tls: { ...earlier, ...later, keyStore, trustStore } };
}
