import { auth, create, OP, read, setWatches, Transcript, Wire } from "../wire.ts";
import { type Arms, placed, type Script, SESSIONS, type SessionName, type Step } from "./script.ts";

const SESSION_TIMEOUT_MS = 40_000;
/** Requested for a session that is to expire; the server raises it to its minimum. */
const SHORT_TIMEOUT_MS = 1;
const NO_AUTH = -102;

/**
 * Runs a conversation with a server and records every packet received.
 *
 * One session sends at a time. Before another one does, every session pings: an event precedes the
 * reply of a later ping, so each session's events are complete and in the server's order.
 *
 * @param root the script's place in the tree, such as `/s12`; it must not exist
 */
export async function playScript(script: Script, address: string, root: string): Promise<readonly string[]> {
  const lines: string[] = [];
  const player = new Player(address, root, new Transcript((line) => lines.push(line)));
  try {
    await player.play(script.steps);
  } catch (error) {
    lines.push(`${BROKEN_OFF}: ${error instanceof Error ? error.message : String(error)}`);
  } finally {
    player.end();
  }
  return lines;
}

/** The start of the last line if a server did not answer: no two such transcripts are equal. */
export const BROKEN_OFF = "BROKEN OFF";

class Player {
  readonly #address: string;
  readonly #root: string;
  readonly #transcript: Transcript;
  readonly #sessions = new Map<SessionName, Wire>();

  constructor(address: string, root: string, transcript: Transcript) {
    this.#address = address;
    this.#root = root;
    this.#transcript = transcript;
  }

  async play(steps: readonly Step[]): Promise<void> {
    for (const name of SESSIONS) this.#sessions.set(name, await this.#open(name));
    await this.#session("a").ask("the root", OP.create, create(this.#root));
    for (const step of steps) await this.#step(step);
    for (const name of SESSIONS) {
      await this.#close(name, "ends");
      await this.#listen(true);
    }
  }

  end(): void {
    for (const wire of this.#sessions.values()) wire.end();
  }

  async #open(name: string, timeoutMs = SESSION_TIMEOUT_MS): Promise<Wire> {
    const wire = new Wire(this.#address, this.#transcript);
    await wire.handshake(`handshake of ${name}`, { timeoutMs });
    this.#transcript.normal.name(wire.id, name);
    return wire;
  }

  #session(name: SessionName): Wire {
    const wire = this.#sessions.get(name);
    if (wire === undefined) throw new Error(`there is no session ${name}`);
    return wire;
  }

  /** Closes a session. None is left behind: its expiry would affect another script. */
  async #close(name: SessionName, verb: string): Promise<Wire> {
    if (this.#session(name).hasEnded) await this.#comeBack(name, undefined);
    await this.#session(name).askSorted(`${name} ${verb}`, OP.close);
    // Its connection had ended before, unnoticed.
    if (this.#session(name).hasEnded) {
      await this.#comeBack(name, undefined);
      await this.#session(name).askSorted(`${name} ${verb}`, OP.close);
    }
    const wire = this.#session(name);
    this.#sessions.delete(name);
    return wire;
  }

  async #step(step: Step): Promise<void> {
    if (step.kind === "expiry") return await this.#expire(step.path);
    const { session: name } = step;
    if (this.#session(name).hasEnded) await this.#comeBack(name, undefined);
    const wire = this.#session(name);
    switch (step.kind) {
      case "leave":
        await (await this.#close(name, "leaves")).event(`${name} then`);
        await this.#listen(true);
        this.#sessions.set(name, await this.#open(name));
        return;
      case "come-back":
        wire.end();
        await this.#comeBack(name, step.arms);
        break;
      case "auth":
        await wire.ask(
          `${name} auth ${step.scheme} ${step.credentials}`,
          OP.auth,
          auth(step.scheme, step.credentials),
          -4,
        );
        // A refusal is followed by the end of the connection.
        if (wire.lastError !== 0 && !wire.hasEnded) await wire.event(`${name} then`);
        break;
      case "requests":
        for (const { label, opcode, body } of step.requests) wire.send(`${name} ${label}`, opcode, body(this.#root));
        await wire.settle();
        break;
    }
    await this.#listen(false, name);
  }

  async #comeBack(name: SessionName, arms: Arms | undefined): Promise<void> {
    const { id, password } = this.#session(name);
    const again = new Wire(this.#address, this.#transcript);
    this.#sessions.set(name, again);
    await again.handshake(`${name} comes back`, { id, password, timeoutMs: SESSION_TIMEOUT_MS });
    if (arms === undefined) return;
    const seen = this.#transcript.normal.newest - BigInt(arms.ago);
    const lists: string[][] = [];
    for (const list of arms.lists) {
      const armed: string[] = [];
      // Apache reports missed events of nodes that the client may not read, too.
      for (const path of list.map((relative) => placed(relative, this.#root))) {
        if ((await again.errorOf(OP.getData, read(path))) !== NO_AUTH) armed.push(path);
      }
      lists.push(armed);
    }
    await again.ask(`${name} arms ${arms.lists.map(String).join(" ")}`, arms.opcode, setWatches(seen, lists), -8);
  }

  /** The deletion of its ephemeral shows the end of the session. */
  async #expire(where: string): Promise<void> {
    const marker = `${this.#root}-lives`;
    const short = await this.#open("short", SHORT_TIMEOUT_MS);
    await short.ask("short's mark", OP.create, create(marker, { flags: 1 }));
    await short.ask(`short's node ${where}`, OP.create2, create(placed(where, this.#root), { flags: 1 }));
    const watcher = await this.#open("watcher");
    await watcher.ask("who watches it", OP.exists, read(marker, true));
    short.end();
    await watcher.event("the mark goes");
    await watcher.ask("watcher ends", OP.close);
    await this.#listen(true);
  }

  /**
   * Waits until all effects have reached every other session.
   *
   * @param isEnd a session has ended: the order in which its ephemerals are deleted is not
   *   guaranteed
   */
  async #listen(isEnd: boolean, except?: SessionName): Promise<void> {
    for (const [name, wire] of this.#sessions) {
      if (name === except || wire.hasEnded) continue;
      if (isEnd) await wire.askSorted(`${name} listens`, OP.ping, undefined, -2);
      else await wire.ask(`${name} listens`, OP.ping, undefined, -2);
    }
  }
}
