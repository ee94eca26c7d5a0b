import type { ServerOptions } from "@zooid/embedded-server";
import { backupKey } from "./backup-key.ts";
import type { ServeCommand } from "./command-line.ts";

/**
 * The options of a server that is a process of its own: it has a port for operators, and one for
 * metrics where the provider of those is named.
 */
export function operated({ options, configuration = "" }: ServeCommand): ServerOptions {
  const metrics = { enabled: false, ...options.metrics };
  const backup = options.backup === undefined ? {} : { backup: { ...options.backup, env: backupKey() } };
  const standby = options.standby === undefined ? {} : { standby: { ...options.standby, env: backupKey() } };
  return {
    ...options,
    ...backup,
    ...standby,
    admin: { ...options.admin },
    metrics,
    initialConfiguration: configuration,
  };
}
