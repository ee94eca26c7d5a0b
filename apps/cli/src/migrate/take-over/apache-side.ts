/** Apache's servers, as the operator's machine reaches them. */
import { adminCommand, isZkError, limitSignal, parseConnectString, pause } from "@zooid/client";
import { adminFields, hostPort, type Member, type ServerId } from "@zooid/model";
import { parseConfiguration } from "@zooid/model/membership";
import { adminPage } from "../../admin-port.ts";
import { CliError } from "../../cli-error.ts";
import type { Invocation } from "../../command.ts";
import { adminBases } from "../../doctor/ensemble-facts.ts";
import { CONFIG_PATH } from "../../members/configuration.ts";
import { silenceText } from "../../members/server-status.ts";
import { parseServerReport } from "../../texts/server-report.ts";
import { type NodeCredential, sessionWith } from "../apache-clients.ts";
import { adminOf } from "../check/ask-servers.ts";
import {
  configurationOf,
  parseConf,
  parseConnections,
  parseCons,
  type ServerConfiguration,
} from "../check/server-answers.ts";
import { portState } from "../tcp-port.ts";
import type { ApacheServer, ConnectedClients, ServerPorts } from "./facts.ts";

export interface ApacheSideOptions {
  /** `host:port` for clients. */
  readonly addresses: readonly string[];
  readonly adminPatterns: readonly string[];
  readonly credentials: readonly NodeCredential[];
  readonly invocation: Pick<Invocation, "connection" | "signal">;
}

interface ApacheAdmin {
  readonly base: URL;
  readonly hostname: string;
  readonly configuration: ServerConfiguration;
}

const WORD_MS = 2500;
const ADMIN_MS = 5000;
const PORT_MS = 1000;
const RETRY_MS = 500;
/** One attempt to have servers back. */
const JOIN_MS = 10_000;
/** Hosts of a server's line that stand for all of its addresses. */
const WILDCARDS: ReadonlySet<string> = new Set(["0.0.0.0", "::", "[::]"]);

export class ApacheSide {
  readonly #options: ApacheSideOptions;
  #admins: readonly ApacheAdmin[] = [];
  /** The numbers of servers that have said them. */
  readonly #sids = new Map<string, number>();

  constructor(options: ApacheSideOptions) {
    this.#options = options;
  }

  /** @param members of the followed ensemble, for servers that do not say their numbers */
  async look(members: readonly Member[], signal: AbortSignal): Promise<readonly ApacheServer[]> {
    const bases = adminBases(this.#options.adminPatterns, this.#options.addresses);
    const found = await Promise.all(bases.map((base) => adminAt(base, limited(signal, ADMIN_MS))));
    this.#admins = found.filter((admin) => admin !== undefined);
    return await Promise.all(this.#options.addresses.map((address) => this.#lookAt(address, members, signal)));
  }

  async #lookAt(address: string, members: readonly Member[], signal: AbortSignal): Promise<ApacheServer> {
    const base = { address, sid: this.#sidOf(address, members), mode: undefined };
    try {
      const text = await this.#word(address, "srvr", signal);
      const mode = parseServerReport(text)?.mode;
      const conf =
        adminOf(address, this.#admins)?.configuration ?? parseConf(await this.#wordOrNothing(address, "conf", signal));
      if (conf?.sid !== undefined) this.#sids.set(address, conf.sid);
      const sid = this.#sidOf(address, members);
      return { address, sid, mode, fault: mode === undefined ? firstLine(text) : undefined };
    } catch (error) {
      return { ...base, fault: silenceText(error) };
    }
  }

  /** Clients that each server has connections of, by its admin port, or else by `cons`. */
  async clients(signal: AbortSignal): Promise<readonly ConnectedClients[]> {
    return await Promise.all(
      this.#options.addresses.map(async (address) => {
        const admin = adminOf(address, this.#admins);
        const sessions =
          (admin === undefined
            ? undefined
            : parseConnections(await pageText(admin.base, "connections", limited(signal, ADMIN_MS)))) ??
          parseCons(await this.#wordOrNothing(address, "cons", signal));
        if (sessions === undefined)
          return { address, count: undefined, text: "neither its admin port nor its four-letter word cons answers" };
        return { address, count: sessions.length, text: sessions[0]?.address };
      }),
    );
  }

  /**
   * The ports of each server for clients, its quorum and elections, also of those without an
   * address.
   */
  async ports(members: readonly Member[], withinMs: number): Promise<readonly ServerPorts[]> {
    const ms = Math.min(withinMs, PORT_MS);
    const named = this.#options.addresses.map((address) => {
      const sid = this.#sidOf(address, members);
      return {
        address,
        sid,
        ports: [
          address,
          ...peerPorts(
            members.find((member) => member.sid === sid),
            address,
          ),
        ],
      };
    });
    const unnamed = members
      .filter(({ sid }) => !named.some((server) => server.sid === sid))
      .map((member) => ({ address: `server.${member.sid}`, sid: member.sid, ports: peerPorts(member, undefined) }));
    return await Promise.all(
      [...named, ...unnamed].map(async ({ address, sid, ports }) => {
        const states = await Promise.all(ports.map(async (port) => ({ port, state: await portState(port, ms) })));
        const of = (wanted: string): string[] => states.filter(({ state }) => state === wanted).map(({ port }) => port);
        return { address, sid, open: of("open"), silent: of("silent") };
      }),
    );
  }

  /**
   * Leaves one server of the ensemble.
   *
   * @returns the session that has asked for it, which has ended
   * @throws CliError, ZkError
   */
  async leaveAlone(address: string, sid: number, signal: AbortSignal): Promise<string> {
    await using session = await this.#session(address, signal);
    const { client } = session;
    const { data } = await client.get(CONFIG_PATH, { signal, sync: true });
    const { members } = parseConfiguration(Buffer.from(data ?? []).toString());
    const leaving = members.servers.filter((member) => member.sid !== sid).map((member) => `${member.sid}`);
    if (leaving.length === members.servers.length)
      throw new CliError(`${address} is not server ${sid} of the ensemble`, { code: "NO_MEMBER" });
    if (leaving.length > 0) await client.reconfig({ leaving, fromVersion: BigInt(members.version) }, { signal });
    return `0x${BigInt.asUintN(64, client.sessionId).toString(16)}`;
  }

  /**
   * Has servers back, once enough of them follow.
   *
   * @throws the last error, when the time is over
   */
  async joinAgain(lines: readonly string[], withinMs: number): Promise<void> {
    const endMs = performance.now() + withinMs;
    for (;;) {
      const errors: unknown[] = [];
      for (const address of this.#options.addresses) {
        try {
          await this.#join(address, lines);
          return;
        } catch (error) {
          errors.push(error);
        }
      }
      // The last server of the ensemble may lead it alone: others refuse for another reason.
      const refusal = errors.find((error) => isZkError(error, "NO_AUTH"));
      if (refusal !== undefined) throw refusal;
      if (performance.now() >= endMs) throw errors.find((error) => isZkError(error)) ?? errors[0];
      await pause(RETRY_MS);
    }
  }

  async #join(address: string, lines: readonly string[]): Promise<void> {
    const signal = limitSignal(JOIN_MS);
    await using session = await this.#session(address, signal);
    const { client } = session;
    const { data } = await client.get(CONFIG_PATH, { signal, sync: true });
    const configuration = parseConfiguration(Buffer.from(data ?? []).toString());
    const missing = lines.filter((line) => !configuration.lines.has(sidOfLine(line)));
    if (missing.length === 0) return;
    const fromVersion = BigInt(configuration.members.version);
    await client.reconfig({ joining: missing, fromVersion }, { signal });
  }

  async #session(address: string, signal: AbortSignal): ReturnType<typeof sessionWith> {
    const { invocation, credentials } = this.#options;
    return await sessionWith({ connection: invocation.connection, signal }, address, credentials);
  }

  /** As the server has said it, or by its host, where that is no other server's. */
  #sidOf(address: string, members: readonly Member[]): number | undefined {
    const said = this.#sids.get(address);
    if (said !== undefined) return said;
    const host = hostOf(address);
    const [found, ...more] = members.filter((member) => member.host === host);
    return more.length === 0 ? found?.sid : undefined;
  }

  async #word(address: string, word: string, signal: AbortSignal): Promise<string> {
    const { connection } = this.#options.invocation;
    return await adminCommand(address, word, { signal, ...connection.security, timeoutMs: WORD_MS });
  }

  async #wordOrNothing(address: string, word: string, signal: AbortSignal): Promise<string> {
    try {
      return await this.#word(address, word, signal);
    } catch {
      // It is not on the server's whitelist, or the server is gone.
      return "";
    }
  }
}

async function adminAt(base: URL, signal: AbortSignal): Promise<ApacheAdmin | undefined> {
  const fields = adminFields(await pageText(base, "configuration", signal));
  return fields === undefined ? undefined : { base, hostname: base.hostname, configuration: configurationOf(fields) };
}

async function pageText(base: URL, command: string, signal: AbortSignal): Promise<string> {
  try {
    return (await adminPage(base, `commands/${command}`, signal)).text;
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    return "";
  }
}

function peerPorts(member: Member | undefined, address: string | undefined): readonly string[] {
  if (member === undefined) return [];
  const own = address === undefined ? undefined : hostOf(address);
  const host = WILDCARDS.has(member.host) && own !== undefined ? own : member.host;
  return [hostPort(host, member.quorumPort), hostPort(host, member.electionPort)];
}

function hostOf(address: string): string | undefined {
  return parseConnectString(address).hosts[0]?.host;
}

function limited(signal: AbortSignal, ms: number): AbortSignal {
  return AbortSignal.any([signal, limitSignal(ms)]);
}

/** The number in a line `server.N=…`. */
function sidOfLine(line: string): ServerId {
  return Number(/^server\.(\d+)=/.exec(line)?.[1]) as ServerId;
}

function firstLine(text: string): string {
  const [line = ""] = text.trim().split("\n");
  return line === "" ? "an empty answer to srvr" : line;
}
