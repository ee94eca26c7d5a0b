/**
 * The model of a move behind real ports: TCP ports of three Apache servers with their four-letter
 * words and admin ports, and the admin ports of a follower and of three members.
 */
import { once } from "node:events";
import { createServer as createHttpServer, type Server as HttpServer, type ServerResponse } from "node:http";
import { type AddressInfo, createServer, type Server } from "node:net";
import { formatZxid, parseZxid } from "@zooid/model";
import { freePorts } from "@zooid/wire/testing/free-ports";
import type { Action, ActKind, Acts, OperatorCommand } from "../migrate/take-over/action.ts";
import type { SyncFacts } from "../migrate/take-over/facts.ts";
import { MovingWorld, type WorldOptions } from "./moving-world.ts";

type Fields = Readonly<Record<string, unknown>>;

interface ApachePorts {
  readonly sid: number;
  readonly client: number;
  readonly quorum: number;
  readonly election: number;
}

/** The credentials that the admin ports of follower and members ask for. */
export const AUTH: string = "digest super:test";

export class MovingPorts implements AsyncDisposable {
  readonly world: MovingWorld;
  readonly #apache: readonly ApachePorts[];
  readonly #listening = new Map<number, Server>();
  readonly #http: HttpServer[] = [];
  readonly #origins: string[] = [];
  /** Commands of admin ports that are asked to fail once, without an answer. */
  readonly lost: Set<string> = new Set();

  private constructor(world: MovingWorld, apache: readonly ApachePorts[]) {
    this.world = world;
    this.#apache = apache;
  }

  static async start(options: WorldOptions = {}): Promise<MovingPorts> {
    const ports = await freePorts(9);
    const apache = [0, 1, 2].map((i) => ({
      sid: i + 1,
      client: ports[i] ?? 0,
      quorum: ports[3 + i] ?? 0,
      election: ports[6 + i] ?? 0,
    }));
    const addresses = apache.map(({ client }) => `127.0.0.1:${client}`);
    const moving = new MovingPorts(new MovingWorld({ ...options, addresses }), apache);
    await moving.#listen();
    return moving;
  }

  /** The settings that each command line names. */
  get places(): readonly string[] {
    const [follower = "", operator, ...rest] = this.#origins;
    const [members, admins] = [rest.slice(0, 3), rest.slice(3)];
    const apache = this.world.apache.map(({ address }) => address).join(",");
    void operator;
    return [
      ...["--apache", apache, "--follower", follower, "--members", members.join(","), "--admin-auth", AUTH],
      ...admins.flatMap((origin) => ["--admin", origin]),
    ];
  }

  /** A shell command that acts on the model. */
  command(act: OperatorCommand | "fail"): string {
    const script = `fetch("${this.#origins[1]}/${act}?"+process.env.ZOOID_SERVER,{method:"POST"}).then(async a=>{console.log(await a.text());process.exitCode=a.ok?0:7})`;
    return `${process.execPath} -e '${script}'`;
  }

  get commands(): readonly string[] {
    return (["block", "fence", "release"] as const).flatMap((name) => [`--${name}`, this.command(name)]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const server of this.#http) {
      server.closeAllConnections();
      server.close();
    }
    await Promise.all([...this.#listening.keys()].map((port) => this.#close(port)));
  }

  async #listen(): Promise<void> {
    await this.#follow();
    await this.#admin((name) => this.#followerAnswer(name));
    await this.#operator();
    for (let i = 0; i < 3; i++) await this.#admin((name) => this.#memberAnswer(name, i));
    for (const { sid, client } of this.#apache)
      await this.#admin((name) => this.#apacheAnswer(name, sid, client), false);
  }

  /** Ports listen as the model's servers run. */
  async #follow(): Promise<void> {
    for (const { sid, client, quorum, election } of this.#apache) {
      const server = this.world.apache.find((each) => each.sid === sid);
      const isRunning = server?.isRunning === true;
      await this.#set(client, isRunning && !server?.isBlocked, sid);
      await this.#set(quorum, isRunning && sid === this.world.leader, undefined);
      await this.#set(election, isRunning, undefined);
    }
  }

  async #set(port: number, isOpen: boolean, sid: number | undefined): Promise<void> {
    if (isOpen === this.#listening.has(port)) return;
    if (!isOpen) return await this.#close(port);
    const server = createServer((socket) => {
      socket.on("error", () => socket.destroy());
      if (sid !== undefined) socket.on("data", (word) => socket.end(this.#word(word.toString().trim(), sid)));
    });
    this.#listening.set(port, server);
    server.listen(port, "127.0.0.1");
    await once(server, "listening");
  }

  async #close(port: number): Promise<void> {
    const server = this.#listening.get(port);
    this.#listening.delete(port);
    if (server === undefined) return;
    server.close();
    await once(server, "close");
  }

  #word(word: string, sid: number): string {
    if (word !== "srvr") return "";
    const mode = sid === this.world.leader ? "leader" : "follower";
    return `Zookeeper version: 3.9.5-0, built on 2026-01-01 00:00 UTC\nZxid: 0x500000001\nMode: ${mode}\nNode count: 5\n`;
  }

  async #operator(): Promise<void> {
    await this.#http1(async (url, response) => {
      const command = url.pathname.slice(1);
      const address = decodeURIComponent(url.search.slice(1));
      if (command === "fail") {
        response.writeHead(500).end("no such host");
        return;
      }
      this.#act({ kind: "run", command: command as OperatorCommand, addresses: [address], withinMs: 1 });
      await this.#follow();
      response.writeHead(200).end(`${command} of ${address}`);
    });
  }

  #apacheAnswer(name: string, sid: number, client: number): Fields | string {
    const server = this.world.apache.find((each) => each.sid === sid);
    if (server?.isRunning !== true) return "stopped";
    if (name === "configuration") return { client_port: client, server_id: sid, tick_time: 2000 };
    if (name !== "connections") return "Unknown command";
    const clients = this.#act<"look-clients">({ kind: "look-clients", withinMs: 1 });
    const { count = 0 } = clients.find(({ address }) => address === server.address) ?? {};
    const connections = Array.from({ length: count }, (_, i) => ({
      remote_socket_address: `10.0.0.${i}:4000`,
      session_id: i + 1,
      session_timeout: 8000,
    }));
    return { connections, secure_connections: [] };
  }

  #followerAnswer(name: string): Fields | string {
    const [command, query = ""] = name.split("?");
    switch (command) {
      case "follow_status":
        return this.#followStatus();
      case "follow_sessions":
        return { sessions: 2, shortest_timeout_ms: this.#act<"look-sessions">({ kind: "look-sessions", withinMs: 1 }) };
      case "follow_archive":
        return place(this.#act<"archive">({ kind: "archive", withinMs: 1 }));
      case "follow_touch":
        this.#act({ kind: "touch", withinMs: 1 });
        return { sessions: 2 };
      case "follow_sync": {
        const answer = this.#act<"sync">({ kind: "sync", withinMs: 1 });
        return { zxid: formatZxid(answer.zxid), ...since(answer) };
      }
      case "follow_finish": {
        const zxid = parseZxid(new URLSearchParams(query).get("zxid") ?? "");
        const end = this.#act<"finish">({ kind: "finish", zxid, withinMs: 1 });
        return { ...place(end), since_sync: since(end.since) };
      }
      case "follow_resume":
        this.#act({ kind: "resume", withinMs: 1 });
        return {};
      default:
        return `Unknown command: ${name}`;
    }
  }

  #followStatus(): Fields {
    const { state, epoch, zxid, lagTransactions, digest, sids } = this.#act<"look-follower">({
      kind: "look-follower",
      withinMs: 1,
    });
    const lines = (those: readonly number[]): string =>
      this.#apache
        .filter(({ sid }) => those.includes(sid))
        .map(({ sid, quorum, election }) => `server.${sid}=127.0.0.1:${quorum}:${election}:participant`)
        .join("\n");
    return {
      state,
      epoch,
      zxid: formatZxid(zxid),
      lag_transactions: lagTransactions,
      digest,
      servers: `${lines(sids)}\nversion=0`,
      servers_before: sids.length === 1 ? `${lines([1, 2, 3])}\nversion=0` : null,
    };
  }

  #memberAnswer(name: string, i: number): Fields | string {
    const [command, query = ""] = name.split("?");
    switch (command) {
      case "standby": {
        const facts = this.#act<"look-members">({ kind: "look-members", withinMs: 1 })[i];
        if (facts === undefined) return "no such member";
        const { installed, standby, clients, isLeader } = facts;
        return {
          clients,
          standby: standby === undefined ? null : place(standby),
          taken_over: installed === undefined || clients === "open" ? null : { ...place({ chain: "c", ...installed }) },
          is_leader: isLeader,
          epoch: installed?.epoch ?? 1,
          last_error: null,
        };
      }
      case "take_over": {
        const asked = new URLSearchParams(query);
        const { digest, missing } = this.#act<"take-over">({
          kind: "take-over",
          zxid: parseZxid(asked.get("zxid") ?? ""),
          digest: asked.get("digest") ?? "",
          epoch: Number(asked.get("epoch")),
          withinMs: 1,
        });
        return { epoch: Number(asked.get("epoch")), digest, missing };
      }
      case "open_clients":
        this.#act({ kind: "open", withinMs: 1 });
        return { clients: "open" };
      case "drop_standby":
        this.#act({ kind: "drop", withinMs: 1 });
        return { dropped: "taken-over" };
      default:
        return `Unknown command: ${name}`;
    }
  }

  /** @throws Refusal where the model refuses */
  #act<K extends ActKind>(action: Action & { readonly kind: K }): Acts[K]["answer"] {
    const { answer } = this.world.reply(action);
    if (answer.kind === "failed") throw new Refusal(answer.reason);
    return answer.value as Acts[K]["answer"];
  }

  async #admin(answer: (name: string) => Fields | string, needsAuth = true): Promise<void> {
    await this.#http1(async (url, response, authorization) => {
      const name = `${url.pathname}${url.search}`.slice("/commands/".length);
      const command = name.split("?")[0] ?? "";
      if (needsAuth && authorization !== AUTH) return refuse(response, 401, "Auth info is missing for the command");
      if (this.lost.delete(command)) {
        answer(name);
        response.destroy();
        return;
      }
      try {
        const found = answer(name);
        if (typeof found === "string") return refuse(response, 404, found);
        response.writeHead(200).end(JSON.stringify({ ...found, command, error: null }));
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        refuse(response, 409, error.message);
      }
    });
  }

  async #http1(
    answer: (url: URL, response: ServerResponse, authorization: string | undefined) => Promise<void>,
  ): Promise<void> {
    const server = createHttpServer((request, response) => {
      void answer(new URL(request.url ?? "/", "http://host"), response, request.headers.authorization);
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    this.#http.push(server);
    this.#origins.push(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  }
}

class Refusal extends Error {}

function refuse(response: ServerResponse, status: number, error: string): void {
  response.writeHead(status).end(JSON.stringify({ command: "", error }));
}

function place({
  zxid,
  chain,
  digest,
}: {
  readonly zxid: number;
  readonly chain: string;
  readonly digest: string;
}): Fields {
  return { zxid: formatZxid(zxid as SyncFacts["zxid"]), chain, digest };
}

function since({ after, requests, reconfigs, sessions }: SyncFacts): Fields {
  return {
    after: after === undefined ? null : formatZxid(after),
    requests,
    reconfigs,
    first_requests: sessions.map((session) => ({ zxid: "0x1", session, type: 1 })),
  };
}
