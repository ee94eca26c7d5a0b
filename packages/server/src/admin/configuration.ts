import { membersOf, membersText, ZXID_NONE } from "@zooid/model";
import type { ServerConfig } from "../config.ts";
import type { AdminView } from "./admin-view.ts";

/** The answer of `conf`: names and values, and in an ensemble its members. */
export function configurationText(view: AdminView): string {
  const { config } = view;
  const { dataBytes, logBytes } = view.diskUsage();
  const lines: (readonly [string, number | string])[] = [
    ["clientPort", view.clientPort()],
    ["secureClientPort", view.securePort() ?? -1],
    ["dataDir", config.dataDir ?? ""],
    ["dataDirSize", dataBytes],
    ["dataLogDir", config.logDir ?? ""],
    ["dataLogSize", logBytes],
    ["tickTime", config.tickMs],
    ["maxClientCnxns", config.connectionsPerAddressMax],
    ["minSessionTimeout", config.sessionTimeoutMsMin],
    ["maxSessionTimeout", config.sessionTimeoutMsMax],
    ["clientPortListenBacklog", config.listenBacklog ?? -1],
    ["serverId", config.ensemble?.sid ?? 0],
    ...quorumSettings(config),
  ];
  const text = lines.map(([name, value]) => `${name}=${value}\n`).join("");
  return config.ensemble === undefined ? text : `${text}membership: \n${membership(view)}`;
}

function quorumSettings({ ensemble }: ServerConfig): (readonly [string, number])[] {
  if (ensemble === undefined) return [];
  const own = ensemble.servers.find(({ sid }) => sid === ensemble.sid);
  return [
    ["initLimit", ensemble.initLimit],
    ["syncLimit", ensemble.syncLimit],
    ["electionAlg", ensemble.electionAlg],
    ["electionPort", own?.electionPort ?? 0],
    ["quorumPort", own?.quorumPort ?? 0],
    ["peerType", ensemble.isObserver ? 1 : 0],
  ];
}

/**
 * The configuration in force, in ZooKeeper's own form; before the ensemble has agreed on one, that
 * of this server's file.
 */
function membership({ driver, config: { ensemble } }: AdminView): string {
  const { committed } = driver.replica.zab.members;
  return membersText(committed ?? membersOf(ensemble?.servers ?? [], ZXID_NONE));
}
