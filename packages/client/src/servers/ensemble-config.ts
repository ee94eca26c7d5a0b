/**
 * The members of an ensemble: the text of `/zookeeper/config`, in the format of Apache's dynamic
 * configuration files.
 */
import { CONFIGURATION_CHARS_MAX, type Stat } from "@zooid/model";
import { unreadableError } from "../errors.ts";
import type { HostAddress } from "./connect-string.ts";

/** The node of the configuration, outside of any chroot. */
export const CONFIG_PATH = "/zookeeper/config";

export interface EnsembleServer {
  readonly id: number;
  /** Address for other servers; the first one if there are several. */
  readonly host: string;
  readonly quorumPort: number;
  readonly electionPort: number;
  readonly role: "participant" | "observer";
  /** Client address without TLS; undefined if the configuration gives none. */
  readonly clientAddress: HostAddress | undefined;
  /**
   * Client address with TLS; undefined if the configuration gives none, as with servers before
   * 3.10.
   */
  readonly secureClientAddress: HostAddress | undefined;
}

export interface EnsembleConfig {
  /** Grows with each reconfiguration; 0 if there was none. */
  readonly version: bigint;
  readonly servers: readonly EnsembleServer[];
  /** The whole text, including weights and groups. */
  readonly text: string;
  readonly stat: Stat;
}

/** A change of the ensemble: incremental, or complete by `members`. */
export interface ConfigChange {
  /**
   * Joining servers, each as `server.4=zk4:2888:3888;2181`; an existing id gets another address or
   * role.
   */
  readonly joining?: readonly string[];
  /** Ids of leaving servers. */
  readonly leaving?: readonly (number | string)[];
  /** All members, in the form of `joining`; excludes `joining` and `leaving`. */
  readonly members?: readonly string[];
  /** The version that the current configuration must have, else BAD_VERSION. Default: any. */
  readonly fromVersion?: bigint;
}

/** @throws MARSHALLING_ERROR for an invalid configuration */
export function parseEnsembleConfig(
  { data, stat }: { readonly data: Uint8Array | null; readonly stat: Stat },
  op = "getConfig",
): EnsembleConfig {
  const bytes = Buffer.from(data ?? []);
  if (bytes.length > CONFIGURATION_CHARS_MAX) {
    const reason = `a configuration has at most ${CONFIGURATION_CHARS_MAX} bytes, and this one has ${bytes.length}`;
    throw unreadableError(op, CONFIG_PATH, new Error(reason));
  }
  const text = bytes.toString();
  const servers: EnsembleServer[] = [];
  let version = 0n;
  for (const line of text.split("\n").map((line) => line.trim())) {
    const [, name = "", value = ""] = /^([^=#]+)=(.*)$/.exec(line) ?? [];
    const id = /^server\.(\d+)$/.exec(name)?.[1];
    const server = id === undefined ? undefined : parseServer(Number(id), value);
    const isVersion = name === "version" && /^[0-9a-f]{1,16}$/i.test(value);
    if (isVersion) version = BigInt(`0x${value}`);
    if (server !== undefined) servers.push(server);
    else if (id !== undefined || (name === "version" && !isVersion)) {
      throw unreadableError(op, CONFIG_PATH, new Error(`no line of a configuration: ${line}`));
    }
  }
  return { version, servers, text, stat };
}

const ADDRESS = /^(\[[^\]]+\]|[^:]+):(\d{1,5}):(\d{1,5})(?::(participant|observer))?$/i;
const CLIENT_ADDRESS = /^(?:(\[[^\]]+\]|[^:]+):)?(\d{1,5})$/;
/** A wildcard address, which is meaningless on other machines. */
const ANYWHERE: ReadonlySet<string> = new Set(["0.0.0.0", "::", "0:0:0:0:0:0:0:0"]);

/** `host:2888:3888[:role][|host:2888:3888 …][;[[address:]2181][;[address:]2281]]` */
function parseServer(id: number, text: string): EnsembleServer | undefined {
  const [peers = "", client = "", secureClient = ""] = text.split(";").map((part) => part.trim());
  const [, peer, quorumPort, electionPort] = ADDRESS.exec(peers.split("|")[0] ?? "") ?? [];
  if (peer === undefined) return undefined;
  const host = plain(peer);
  const [plainAddress, secureAddress] = [parseClient(client, host), parseClient(secureClient, host)];
  if (plainAddress === "unreadable" || secureAddress === "unreadable") return undefined;
  return {
    id,
    host,
    quorumPort: Number(quorumPort),
    electionPort: Number(electionPort),
    role: /:observer$/i.test(peers) ? "observer" : "participant",
    clientAddress: plainAddress,
    secureClientAddress: secureAddress,
  };
}

/** @param host the server's host, for a port on the wildcard address */
function parseClient(text: string, host: string): HostAddress | undefined | "unreadable" {
  if (text === "") return undefined;
  const [, address = "0.0.0.0", port] = CLIENT_ADDRESS.exec(text) ?? [];
  if (port === undefined) return "unreadable";
  return { host: ANYWHERE.has(plain(address)) ? host : plain(address), port: Number(port) };
}

function plain(host: string): string {
  return host.replace(/^\[|\]$/g, "");
}
