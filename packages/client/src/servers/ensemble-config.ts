/** Who an ensemble's servers are: the text that `/zookeeper/config` holds, as Apache's dynamic configuration files have it. */
import type { Stat } from "@zooid/model";
import { unreadableError } from "../errors.ts";
import type { HostAddress } from "./connect-string.ts";

/** Where every server keeps it, whatever the chroot. */
export const CONFIG_PATH = "/zookeeper/config";

export interface EnsembleServer {
  readonly id: number;
  /** Where the other servers reach it; the first of its addresses, where it has several. */
  readonly host: string;
  readonly quorumPort: number;
  readonly electionPort: number;
  readonly role: "participant" | "observer";
  /** Where clients reach it, without TLS; undefined where the configuration does not say. */
  readonly clientAddress: HostAddress | undefined;
  /** Where clients reach it that speak TLS; undefined where the configuration does not say: servers before 3.10 have no word for it. */
  readonly secureClientAddress: HostAddress | undefined;
}

export interface EnsembleConfig {
  /** Grows with each reconfiguration; 0 for what was never reconfigured. */
  readonly version: bigint;
  readonly servers: readonly EnsembleServer[];
  /** All of it, weights and groups included. */
  readonly text: string;
  readonly stat: Stat;
}

/** A change of the ensemble: one by one, or all at once by `members`. */
export interface ConfigChange {
  /** Those who join, each as `server.4=zk4:2888:3888;2181`; who is there already gets another address or role. */
  readonly joining?: readonly string[];
  /** The ids of those who leave. */
  readonly leaving?: readonly (number | string)[];
  /** All of them from now on, in the form of `joining`, which makes no sense beside it. */
  readonly members?: readonly string[];
  /** The version that the present configuration must have, else BAD_VERSION. Default: any. */
  readonly fromVersion?: bigint;
}

/** @throws MARSHALLING_ERROR for what is no configuration */
export function parseEnsembleConfig(
  { data, stat }: { readonly data: Uint8Array | null; readonly stat: Stat },
  op = "getConfig",
): EnsembleConfig {
  const text = Buffer.from(data ?? []).toString();
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
/** Every address of the machine, which means nothing elsewhere. */
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
    ...{ id, host, quorumPort: Number(quorumPort), electionPort: Number(electionPort) },
    role: /:observer$/i.test(peers) ? "observer" : "participant",
    clientAddress: plainAddress,
    secureClientAddress: secureAddress,
  };
}

/** @param host the server's, for a port at every address of its machine */
function parseClient(text: string, host: string): HostAddress | undefined | "unreadable" {
  if (text === "") return undefined;
  const [, address = "0.0.0.0", port] = CLIENT_ADDRESS.exec(text) ?? [];
  if (port === undefined) return "unreadable";
  return { host: ANYWHERE.has(plain(address)) ? host : plain(address), port: Number(port) };
}

function plain(host: string): string {
  return host.replace(/^\[|\]$/g, "");
}
