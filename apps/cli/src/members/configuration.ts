import { type Configuration, parseConfiguration } from "@zooid/model/membership";
import type { Invocation } from "../command.ts";

/** The node of the ensemble's configuration, outside of any chroot. */
export const CONFIG_PATH = "/zookeeper/config";

/** @throws MemberRuleError for a server without an ensemble */
export async function readConfiguration({ connection, signal }: Invocation): Promise<Configuration> {
  const client = await connection.ready({ path: CONFIG_PATH, isAbsolute: true, signal });
  const { data } = await client.get(CONFIG_PATH, { signal, sync: true });
  return parseConfiguration(Buffer.from(data ?? []).toString());
}
