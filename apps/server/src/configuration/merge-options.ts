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
function mergedGroups(earlier: ServerOptions, later: ServerOptions): ServerOptions {
  const merged: Mutable<ServerOptions> = {};
  if (earlier.metrics !== undefined) merged.metrics = { ...earlier.metrics, ...later.metrics };
  if (earlier.reaping !== undefined) merged.reaping = { ...earlier.reaping, ...later.reaping };
  if (earlier.retention !== undefined) merged.retention = { ...earlier.retention, ...later.retention };
  if (earlier.disk !== undefined) merged.disk = { ...earlier.disk, ...later.disk };
  if (earlier.scrub !== undefined) merged.scrub = { ...earlier.scrub, ...later.scrub };
  if (earlier.connectionThrottle !== undefined)
    merged.connectionThrottle = { ...earlier.connectionThrottle, ...later.connectionThrottle };
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
