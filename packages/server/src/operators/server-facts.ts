/**
 * The version of ZooKeeper whose client port this server speaks. Clients and tools parse the
 * version line and compare the three numbers, so they are Apache's, with ours as the qualifier.
 */
export const PROTOCOL_VERSION = "3.9.5";

/** The version line of `srvr`, `stat` and `mntr`. */
export function versionText(ownVersion: string, buildTime: string): string {
  return `${PROTOCOL_VERSION}-zooid-${ownVersion}, built on ${buildTime}`;
}
