/** A server and clients, whose connections a test can cut and whose sessions it can end. */
import { type Client, type ClientOptions, type ClientState, connect } from "@zooid/client";
import { expireSession, OldServer, Relay } from "@zooid/client/testing";
import { type ServerOptions, startServer, type ZooidServer } from "@zooid/embedded-server";
import { filter, firstValueFrom } from "rxjs";
import { inOrder } from "../locks/sequence.ts";

export class Stage implements AsyncDisposable {
  readonly server: ZooidServer;
  readonly #clients: Client[] = [];
  readonly #relays: Relay[] = [];
  readonly #recipes: AsyncDisposable[] = [];
  #old: OldServer | undefined;

  private constructor(server: ZooidServer) {
    this.server = server;
  }

  static async start(options: ServerOptions = {}): Promise<Stage> {
    return new Stage(await startServer({ port: 0, tickMs: 100, sessionTimeoutMsMax: 60_000, ...options }));
  }

  async client(options: ClientOptions = {}): Promise<Client> {
    const client = await connect(`127.0.0.1:${this.#target.port}`, options);
    this.#clients.push(client);
    return client;
  }

  /** A client whose connection a test can cut, freeze or refuse. */
  async relayed(options: ClientOptions = {}): Promise<{ readonly zk: Client; readonly relay: Relay }> {
    const relay = await Relay.start(this.#target);
    this.#relays.push(relay);
    const zk = await connect(`127.0.0.1:${relay.port}`, { random: () => 0, ...options });
    this.#clients.push(zk);
    return { zk, relay };
  }

  /** From now on, for new clients, the server looks older than 3.6. */
  async age(): Promise<OldServer> {
    this.#old ??= await OldServer.start(this.server);
    return this.#old;
  }

  /** Closes a recipe at the test's end, before its client. */
  kept<T extends AsyncDisposable>(recipe: T): T {
    this.#recipes.push(recipe);
    return recipe;
  }

  /** Expires a client's session at the server. */
  expire(client: Client): Promise<void> {
    return expireSession(client, this.server.connectString);
  }

  get #target(): { readonly port: number } {
    return this.#old ?? this.server;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const relay of this.#relays) {
      relay.accept();
      relay.thaw();
    }
    await Promise.all(this.#recipes.map((recipe) => recipe[Symbol.asyncDispose]()));
    await Promise.all(this.#clients.map((client) => client.close()));
    await Promise.all(this.#relays.map((relay) => relay[Symbol.asyncDispose]()));
    await this.#old?.[Symbol.asyncDispose]();
    await this.server.stop();
  }
}

export async function enters(client: Client, kind: ClientState["kind"]): Promise<void> {
  await firstValueFrom(client.state$.pipe(filter((state) => state.kind === kind)));
}

/** Waits until a path has `count` children, as a client sees it. */
export async function count(client: Client, path: string, count: number): Promise<readonly string[]> {
  const children$ = client.watchChildren$(path).pipe(filter((names) => (names?.length ?? 0) === count));
  return (await firstValueFrom(children$)) ?? [];
}

export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

/** The error of a call. */
export function failure(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => new Error("it succeeded"),
    (reason: unknown) => reason,
  );
}

/** The names of a subtree, UUIDs left out, sequential nodes in order. */
export async function tree(client: Client, path: string): Promise<readonly string[]> {
  const { names } = await client.children(path);
  const below = await Promise.all(
    inOrder(names).map(async (name) => [name, await tree(client, `${path}/${name}`)] as const),
  );
  return below.flatMap(([name, lines]) => {
    const plain = name.replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/, "UUID");
    return [plain, ...lines.map((line) => `${plain}/${line}`)];
  });
}
