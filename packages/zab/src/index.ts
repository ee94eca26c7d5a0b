export { AckTally } from "./broadcast.ts";
export type { PeerState, ZabSinks } from "./events.ts";
export { type PeerConfig, ZabPeer } from "./peer.ts";
export { ProposalQueue } from "./proposal-queue.ts";
