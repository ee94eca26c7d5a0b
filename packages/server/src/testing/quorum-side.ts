import type { LinkRef, PeerMessage, ServerId } from "@zooid/model";
import { type QuorumLinkOptions, QuorumLinks } from "../peers/quorum-links.ts";
import { Happenings, type TestPeerOptions, type TestPeers } from "./peers.ts";

const running: { stop(): Promise<void> }[] = [];

/** Stops a resource along with the running sides. */
export function stopsWithSides(one: { stop(): Promise<void> }): void {
  running.push(one);
}

/** Stops all sides, after each test. */
export async function stopSides(): Promise<void> {
  for (const one of running.splice(0)) await one.stop();
}

export interface SideOptions extends TestPeerOptions, Pick<QuorumLinkOptions, "bufferedBytesMax" | "refusalOf"> {}

/** One server's links, and their events as words: `opened 1 sid 2 dialed`. */
export class Side {
  readonly happened: Happenings = new Happenings();
  readonly messages: PeerMessage[] = [];
  readonly warnings: string[] = [];
  readonly links: QuorumLinks;
  link = 0 as LinkRef;
  closesAtMessage = false;
  #isAwake = false;

  constructor(peers: TestPeers, sid: number, options: SideOptions = {}) {
    const record = (text: string): void => {
      if (!this.#isAwake) this.happened.add("not awake");
      this.happened.add(text);
    };
    const { bufferedBytesMax, refusalOf, ...more } = options;
    this.links = new QuorumLinks(
      {
        ...peers.options(sid, more),
        ...(bufferedBytesMax === undefined ? {} : { bufferedBytesMax }),
        ...(refusalOf === undefined ? {} : { refusalOf }),
        warn: (text) => this.warnings.push(text),
      },
      {
        wake: () => {
          this.#isAwake = true;
          queueMicrotask(() => {
            this.#isAwake = false;
            this.links.flush();
          });
        },
        linkOpened: (link, from, isDialed) => {
          this.link = link;
          record(`opened ${link} sid ${from}${isDialed ? " dialed" : ""}`);
        },
        dialFailed: (reason) => record(`dial failed: ${reason}`),
        received: (link, message) => {
          this.messages.push("start" in message ? { ...message, ...copied(message) } : message);
          record(`${message.kind} on ${link}`);
          if (this.closesAtMessage) this.links.close(link, { kind: "stopped" });
        },
        linkClosed: (link, reason) => record(`closed ${link}: ${reason}`),
      },
    );
    stopsWithSides(this.links);
  }

  /**
   * Dials until that fails for such a reason: on a busy machine its time may be over before an
   * answer is there.
   */
  async dialUntilFailed(to: ServerId, reason: RegExp): Promise<void> {
    for (let count = 1; this.happened.count(reason) === 0; count++) {
      this.links.dial(to);
      await this.happened.until(/^dial failed/, count);
    }
  }

  send(...messages: PeerMessage[]): void {
    for (const message of messages) this.links.send(this.link, message);
    this.links.flush();
  }
}

function copied({ bytes, start, end }: { bytes: Uint8Array; start: number; end: number }) {
  return { bytes: Uint8Array.from(bytes.subarray(start, end)), start: 0, end: end - start };
}
