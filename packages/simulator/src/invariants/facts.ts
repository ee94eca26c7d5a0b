import type { QuorumVerifier } from "@zooid/model";
import type { CoverageCounts } from "../runs/coverage.ts";
import type { ClosedClients } from "./closed-clients.ts";
import type { CommittedSequence } from "./committed-sequence.ts";
import type { Configurations } from "./configurations.ts";
import type { KnownDisks } from "./known-disks.ts";
import type { ProposalStreams } from "./proposals.ts";
import type { Restores } from "./restores.ts";
import type { SkippedProposals } from "./skipped-proposals.ts";

/** The facts that all invariants of a run know of its ensemble. */
export interface Facts {
  readonly verifier: QuorumVerifier;
  readonly disks: KnownDisks;
  readonly configurations: Configurations;
  readonly proposals: ProposalStreams;
  readonly committed: CommittedSequence;
  readonly skipped: SkippedProposals;
  readonly restores: Restores;
  readonly closed: ClosedClients;
  readonly coverage: CoverageCounts;
}
