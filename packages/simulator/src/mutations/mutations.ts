import type { SourceEdit, SourceMutation } from "./mutate-source.ts";

const VOTE_BESIDE_DATA: SourceEdit = {
  marker: "no-vote-beside-an-ensemble",
  found: " && !this.#founding.hasMetData",
  replacement: "",
};

/**
 * Rules of the replication that are removed from the source, one at a time, to show that the
 * simulator notices. Rule numbers are those of the reference on ZAB, 0.4; the other names are the
 * families at the end of its section 10. Each edit names the marker of its statement.
 */
export const MUTATIONS: readonly (SourceMutation & { readonly rule: string })[] = [
  mutation("1", "election-decides", {
    marker: "no-leader-over-a-newer-history",
    found: "isAhead",
    replacement: "false",
  }),
  mutation("2", "ack-before-sync", {
    marker: "ack-behind-sync",
    replacement: `$&
      link.send({ kind: "ack", epoch: link.epoch, durable: message.last, check: link.check });`,
  }),
  mutation("2", "promise-after-leader-info", {
    marker: "promise-before-leader-info",
    replacement: `this.#hasPromised = true;
      for (const learner of learners.values()) this.invite(learner);
      $&`,
  }),
  mutation("2", "promise-not-kept", {
    marker: "promise-before-ack-epoch",
    found: "log.setPromise({ epoch, sid: link.leader, incarnation }, () => this.#ackEpoch(false))",
    replacement: "this.#ackEpoch(false)",
  }),
  mutation("3", "install-split-in-two", {
    marker: "one-install",
    replacement: `log.setCurrentEpoch(link.epoch, () => {});
      $&`,
  }),
  mutation("4", "position-from-tree", {
    marker: "the-position-is-the-end-of-the-log",
    replacement: "logged: { ...durable.tail, zxid: this.#context.sinks.application.applied() },",
  }),
  mutation("4", "marker-as-position", {
    marker: "the-position-is-the-end-of-the-log",
    replacement:
      "logged: { ...durable.tail, zxid: Math.max(durable.tail.zxid, durable.currentEpoch * 2 ** 32) as Zxid },",
  }),
  mutation("5", "uncommitted-in-the-tree", {
    marker: "replay-what-is-committed",
    found: "Math.min(commitHint, tail.zxid) as Zxid",
    replacement: "tail.zxid",
  }),
  mutation("6", "apply-unlogged", {
    marker: "learner-applies-what-is-committed-and-synced",
    found: "earlierOf(this.committed, this.#durable)",
    replacement: "this.committed",
  }),
  mutation("6", "leader-applies-unlogged", {
    marker: "leader-applies-what-is-committed-and-synced",
    found: "earlierOf(this.committed, this.#durable)",
    replacement: "this.committed",
  }),
  mutation("7", "no-drain-on-role-change", {
    marker: "a-role-begins-on-a-quiet-disk",
    replacement: "return true;",
  }),
  mutation("8", "ack-of-more-than-synced", {
    marker: "ack-what-is-synced",
    found: "this.#durable",
    replacement: "this.#link.logged",
  }),
  mutation("8", "new-leader-not-last", {
    marker: "new-leader-behind-all-entries",
    replacement: "return learner.through !== undefined;",
  }),
  mutation("9", "history-without-a-quorum", {
    marker: "a-quorum-accepts-the-history",
    found: "({ hasAccepted }) => hasAccepted",
    replacement: "() => true",
  }),
  mutation("9", "acks-of-older-epochs-count", {
    marker: "a-quorum-commits",
    found: "verifier.isQuorum(holders)",
    replacement: "holders.length * 2 >= verifier.voters.size",
  }),
  mutation("10", "window-hole", {
    marker: "no-hole-in-the-window",
    found: "oldest.first <= after + 1 &&",
    replacement: "",
  }),
  mutation("11", "storage-error-swallowed", {
    marker: "a-full-disk-completes-nothing",
    replacement: `if (this.#isFull) {
      const log = this.#log;
      const entries = [...this.#entries];
      const lost = this.#pending.shift();
      const write = lost?.perform();
      if (write !== undefined) lost?.settle(write);
      this.#log = log;
      this.#entries = entries;
      return write;
    }`,
  }),
  mutation("12", "up-to-date-twice", {
    marker: "up-to-date-once",
    replacement: `$&
      $&`,
  }),
  mutation("12", "no-cut", {
    marker: "cut-what-the-leader-lacks",
    found: "sync.from",
    replacement: "durable.tail",
  }),
  mutation("families", "keep-stage-of-a-broken-sync", {
    marker: "a-new-stage-for-each-state",
    replacement: "",
  }),
  // Beside a server with data a wiped one has no vote either.
  mutation(
    "families",
    "count-amnesiac",
    { marker: "wiped-servers-are-not-counted", replacement: "isWhole: true," },
    VOTE_BESIDE_DATA,
  ),
  mutation("disks", "count-an-old-disk", { marker: "an-old-disk-is-not-counted", replacement: "return true;" }),
  mutation("disks", "count-a-disk-without-a-name", {
    marker: "a-new-disk-is-named-before-it-counts",
    replacement: "",
  }),
  mutation("disks", "name-without-a-history", {
    marker: "an-old-disk-waits-for-its-name",
    replacement: "this.#isWhole = true;",
  }),
  mutation("families", "vote-order", {
    marker: "the-newest-epoch-first",
    replacement: "if (a.leader !== b.leader) return a.leader - b.leader;",
  }),
  mutation("families", "sync-without-a-quorum", {
    marker: "a-quorum-confirms-the-leader",
    replacement: "",
  }),
  mutation("families", "expiry-on-the-wall-clock", {
    marker: "sessions-live-by-the-monotonic-clock",
    replacement: "this.replica.setTime(wallMs, Math.floor(nowMs));",
  }),
  mutation("parts", "end-forgotten-by-the-next-leader", {
    marker: "the-next-leader-continues-ends",
    replacement: "",
  }),
  mutation("parts", "end-forgotten-behind-its-first-part", {
    marker: "an-end-continues-behind-its-first-part",
    replacement: "",
  }),
  mutation("parts", "reads-in-the-middle-of-a-transaction", {
    marker: "no-reads-in-the-middle-of-a-transaction",
    found: "servingState.isApplying",
    replacement: "false",
  }),
  mutation("parts", "written-into-an-open-multi", {
    marker: "writes-wait-for-an-open-multi",
    found: "this.isPreparing",
    replacement: "false",
  }),
  mutation("tenants", "tree-filled-by-one", {
    marker: "a-share-of-the-tree-for-each-client",
    replacement: "mayAdd: () => true,",
  }),
  mutation("tenants", "watches-charged-to-those-who-ask", {
    marker: "the-most-watches-are-closed",
    replacement: "return false;",
  }),
  mutation("tenants", "answers-that-wait-without-a-bound", {
    marker: "waiting-answers-are-bounded",
    replacement: "",
  }),
  mutation("found", "local-session-of-the-leader-moves", {
    marker: "local-sessions-do-not-move",
    found: "session.isLocal ||",
    replacement: "",
  }),
  // Two guards in a row: a promise without the ensemble's id gives no vote either.
  mutation(
    "found",
    "promise-to-the-wiped",
    { marker: "wiped-servers-make-no-promise", replacement: "" },
    {
      marker: "wiped-servers-hear-no-ensemble-id",
      found: 'learner.isWhole ? this.#ensembleId : ""',
      replacement: "this.#ensembleId",
    },
  ),
  mutation("found", "answered-before-the-leader-serves", {
    marker: "serve-before-learners-do",
    replacement: `$&
      this.#welcome(learner);`,
  }),
  mutation("founding", "founded-without-hearing-all", {
    marker: "a-founder-hears-all",
    replacement: "const obstacle = undefined;",
  }),
  mutation("found", "promise-elsewhere-is-ignored", {
    marker: "an-epoch-above-every-promise",
    found: "this.#isElsewhere(promise)",
    replacement: "false",
  }),
  mutation("found", "expired-before-it-is-committed", {
    marker: "an-end-is-reported-when-it-is-committed",
    replacement: "return false;",
  }),
  mutation("found", "accepting-answers-no-check", {
    marker: "accepting-answers-the-check",
    // The statement after it, which counts the answer, is therefore never reached.
    replacement: "if (false)",
  }),
  mutation(
    "found",
    "history-before-its-ensemble-id",
    { marker: "history-with-its-ensemble", replacement: "" },
    {
      marker: "accept-behind-sync",
      found: "this.#installed(through)",
      replacement: `{
        this.#installed(through);
        if (message.ensembleId !== "") log.setEnsembleId(message.ensembleId, () => {});
      }`,
    },
  ),
  mutation("sessions", "close-of-a-moved-session", {
    marker: "requests-of-a-moved-session-are-refused",
    found: "session.owner !== sid",
    replacement: "session.owner !== sid && request.op !== OpCode.CLOSE_SESSION",
  }),
  mutation("sessions", "write-of-a-moved-session", {
    marker: "requests-of-a-moved-session-are-refused",
    found: "session.owner !== sid",
    replacement: "session.owner !== sid && request.op === OpCode.CLOSE_SESSION",
  }),
  mutation("sessions", "late-disconnect", {
    marker: "a-late-disconnect-leaves-the-new-connection",
    replacement: "if (connection.session !== undefined) connection.session.connection = undefined;",
  }),
  mutation("sessions", "end-removes-a-new-node", {
    marker: "an-end-removes-the-sessions-own-nodes",
    found: "|| pending.node !== store.id(node)",
    replacement: "",
  }),
  mutation("sessions", "refusal-without-confirmation", {
    marker: "unknown-sessions-are-refused-by-a-confirmed-leader",
    replacement: "else answer(false);",
  }),
  mutation("sessions", "connection-outlives-its-session", {
    marker: "an-end-closes-the-connection",
    replacement: "",
  }),
  mutation("sessions", "touches-dropped", { marker: "pongs-report-touches", replacement: "return [];" }),
  mutation("sessions", "renewal-without-the-password", {
    marker: "a-renewal-needs-the-password",
    found: "hasPassword(session, passwordHash)",
    replacement: "session !== undefined",
  }),
  mutation("writes", "stamps-fall", { marker: "stamps-never-fall", replacement: "this.#wallMs = wallMs;" }),
  mutation("writes", "pending-changes-survive", {
    marker: "pending-changes-end-with-the-leadership",
    replacement: "",
  }),
  mutation("writes", "numbers-used-again", {
    marker: "numbers-of-writes-go-on",
    replacement: "this.#next = this.#head;",
  }),
  mutation("writes", "applied-beside-an-open-multi", {
    marker: "nothing-is-applied-beside-an-open-multi",
    replacement: "",
  }),
  mutation("writes", "removals-after-a-clock-jump", {
    marker: "no-removals-after-a-clock-jump",
    found: "this.#hasJumped(nowMs, wallMs)",
    replacement: "false",
  }),
  mutation("writes", "containers-not-listed-when-loaded", {
    marker: "containers-and-ttl-nodes-are-listed",
    found: 'kind !== "persistent"',
    replacement: 'kind !== "persistent" && this.applied !== 0',
  }),
  mutation("writes", "digest-without-access-lists", {
    marker: "the-digest-covers-access-lists",
    found: "hash.word(this.acls.hashHigh(acl));",
    replacement: "return;",
  }),
  mutation("writes", "digest-without-data", { marker: "the-digest-covers-data", replacement: "" }),
  mutation("history", "check-already-sent", {
    marker: "a-check-begins-behind-its-request",
    found: "!this.isOpen",
    replacement: "!this.isOpen && this.#newest === this.#confirmed",
  }),
  mutation("history", "vote-without-a-confirmed-check", {
    marker: "a-vote-again-after-a-confirmed-check",
    replacement: "return true;",
  }),
  mutation("history", "ahead-by-zxid-alone", {
    marker: "the-epoch-decides-which-history-is-newer",
    found: "message.currentEpoch > currentEpoch || (message.currentEpoch === currentEpoch && zxid > tail.zxid)",
    replacement: "zxid > tail.zxid",
  }),
  mutation("members", "commit-by-the-present-quorum-alone", {
    marker: "a-change-needs-both-quorums",
    found: "change.verifier",
    replacement: "this.#verifier",
  }),
  mutation("members", "next-quorum-alone", {
    marker: "both-configurations-count",
    found: "jointVerifier(committed.verifier, lastSeen.verifier)",
    replacement: "lastSeen.verifier",
  }),
  mutation("members", "present-quorum-alone", {
    marker: "both-configurations-count",
    found: "jointVerifier(committed.verifier, lastSeen.verifier)",
    replacement: "committed.verifier",
  }),
  mutation("members", "in-force-before-it-is-committed", {
    marker: "a-change-waits-for-its-commit",
    replacement: "this.#committed = members; this.#lastSeen = members;",
  }),
  mutation("members", "configuration-not-logged-with-its-entry", {
    marker: "the-configuration-with-its-entry",
    replacement: "const ofMembers = undefined;",
  }),
  mutation("members", "history-without-its-configuration", {
    marker: "history-with-its-configuration",
    replacement: "",
  }),
  mutation("members", "learned-configuration-not-written", {
    marker: "a-change-beside-the-one-that-it-replaces",
    replacement: "if (this.isChanging) write(encodeMembers(last));",
  }),
  mutation("members", "history-without-the-configuration-that-is-replaced", {
    marker: "a-history-with-the-configuration-that-is-replaced",
    replacement: "committedConfig: undefined,",
  }),
  mutation("members", "newest-configuration-not-taken", {
    marker: "a-looking-server-takes-the-newest-configuration",
    replacement: "",
  }),
  mutation("members", "voters-of-both-elect", {
    marker: "the-present-voters-elect",
    found: "members.electors",
    replacement: "members.verifier",
  }),
  mutation("members", "two-changes-at-once", {
    marker: "one-change-at-a-time",
    replacement: "",
  }),
  mutation("members", "joiners-not-synced-first", {
    marker: "a-quorum-of-the-next-is-synced",
    replacement: "",
  }),
  mutation("members", "checks-by-both-configurations", {
    marker: "the-present-voters-confirm-the-leader",
    replacement: "const electors = context.members.verifier;",
  }),
  mutation("members", "demoted-before-the-ensemble-id", {
    marker: "the-ensemble-id-comes-with-the-history",
    found: "endsAmnesia ?",
    replacement: "endsAmnesia && !learner.isObserver ?",
  }),
  mutation("members", "removed-servers-still-vote", {
    marker: "both-configurations-count",
    found: "committed === lastSeen ? committed.verifier",
    replacement: `committed === lastSeen
      ? {
          ...committed.verifier,
          isQuorum: (acked) =>
            [...new Set(acked)].filter((sid) => committed.verifier.voters.has(sid) || this.#config.verifier.voters.has(sid))
              .length * 2 > committed.verifier.voters.size,
        }`,
  }),
  mutation(
    "files",
    "unlisted-counted",
    {
      marker: "both-configurations-count",
      found: "committed === lastSeen ? committed.verifier",
      replacement: `committed === lastSeen
      ? {
          ...committed.verifier,
          isQuorum: (acked) =>
            [...new Set(acked)].filter((sid) => committed.verifier.voters.has(sid) || this.#config.verifier.voters.has(sid))
              .length * 2 > committed.verifier.voters.size,
        }`,
    },
    { marker: "unlisted-servers-have-no-vote", found: "this.#verifier.voters.has(sid)", replacement: "true" },
  ),
  mutation("files", "wish-counted-before-it-commits", {
    marker: "both-configurations-count",
    found: "committed === lastSeen ? committed.verifier",
    replacement: "committed === lastSeen ? (this.#config.members ?? committed).verifier",
  }),
  mutation("files", "list-of-the-files-in-force-at-a-start", {
    marker: "the-list-in-force-is-data",
    replacement: "const stored = undefined;",
  }),
  mutation("files", "wish-with-the-new-quorum-alone", {
    marker: "a-wish-needs-both-quorums",
    found: "!committed.verifier.isQuorum(sids) || ",
    replacement: "",
  }),
  mutation(
    "restores",
    "restored-before-the-promise",
    {
      marker: "restored-behind-the-promise",
      replacement: `if (!learners.isQuorum(learners.counted(({ phase }) => phase === "waiting"))) {
      const { restoration } = this.#leader;
      if (restoration === undefined || Reflect.has(restoration, "isEarly")) return;
      Reflect.set(restoration, "isEarly", true);
      restoration.install(() => {});
      return;
    }`,
    },
    {
      marker: "the-restored-history-with-its-epoch",
      found: "restoration === undefined",
      replacement: 'restoration === undefined || Reflect.has(restoration, "isEarly")',
    },
  ),
  mutation("restores", "restored-state-is-committed", {
    marker: "a-restored-state-is-committed-by-a-quorum",
    found: "snapshot.isUncommitted === true",
    replacement: "false",
  }),
  mutation("restores", "restored-state-stays", {
    marker: "a-state-in-place-of-an-uncommitted-one",
    found: "isReplaced || ",
    replacement: "",
  }),
  mutation("restores", "removals-after-a-restore", {
    marker: "no-removals-after-a-restore",
    replacement: "",
  }),
  mutation("restores", "removals-by-a-successor-after-a-restore", {
    marker: "no-removals-after-a-restore",
    found: "restored !== undefined",
    replacement: "zab.durable.tail.zxid === restored",
  }),
  mutation("closed", "opened-before-a-quorum-has-it", {
    marker: "clients-are-served-once-the-opening-is-committed",
    found: "this.#committed?.clients",
    replacement: "this.#lastSeen?.clients",
  }),
  mutation("closed", "epoch-goes-on-behind-a-closing", {
    marker: "a-closing-ends-the-epoch",
    found: "!this.#wereClientsClosed && areClientsClosed",
    replacement: "false",
  }),
  mutation("closed", "session-while-clients-are-closed", {
    marker: "no-session-while-clients-are-closed",
    replacement: "",
  }),
  mutation("levels", "in-force-at-append", {
    marker: "a-level-waits-for-its-commit",
    found: "zxid <= committed ? level : replaced",
    replacement: "level",
  }),
  mutation("levels", "absent-voter-forgotten", {
    marker: "each-member-knows-the-level",
    found: "blockers.length > 0",
    replacement: 'blockers.some(({ reason, isObserver }) => reason !== "absent" || isObserver)',
  }),
  mutation("levels", "observer-forgotten", {
    marker: "each-member-knows-the-level",
    found: "blockers.length > 0",
    replacement: "blockers.some(({ isObserver }) => !isObserver)",
  }),
  mutation("levels", "written-below-its-level", {
    marker: "no-entry-above-the-level-in-force",
    found: "needed > 1 && needed > zab.level",
    replacement: "false",
  }),
  mutation("levels", "level-not-in-the-state", {
    marker: "a-state-with-its-level",
    found: "level: state.level",
    replacement: "level: 1",
  }),
  mutation("levels", "history-without-its-level", {
    marker: "a-history-with-its-level",
    replacement: "",
  }),
  mutation("levels", "level-not-logged-with-its-entry", {
    marker: "the-level-with-its-entry",
    replacement: "const ofLevel = undefined;",
  }),
  mutation(
    "levels",
    "history-of-an-unknown-level",
    { marker: "a-learner-knows-the-level-of-the-history", replacement: "" },
    { marker: "no-history-of-an-unknown-level", replacement: "" },
  ),
  mutation("levels", "newer-history-of-an-unknown-level-counted", {
    marker: "a-newer-history-of-an-unknown-level-is-not-counted",
    found: "isAhead",
    replacement: "false",
  }),
  mutation(
    "levels",
    "entry-of-an-unknown-level",
    { marker: "a-learner-knows-the-level", replacement: "" },
    { marker: "no-entry-of-an-unknown-level", replacement: "const unknown = undefined;" },
  ),
  mutation(
    "members",
    "successor-skips-phases-1-and-2",
    {
      marker: "a-successor-begins-with-discovery",
      replacement: 'if (role === "leading") this.zab.leadAlone(durable.currentEpoch + 1); else $&',
    },
    { marker: "a-leader-without-discovery-is-alone", replacement: "" },
  ),
];

/**
 * Rules whose removal shows only in a certain order of events, which a scenario sets up. Its head
 * names them.
 */
export const MUTATIONS_OF_SCENARIOS: readonly SourceMutation[] = [
  mutation("founding", "attempts-id-in-the-hello", {
    marker: "an-attempts-id-is-not-in-the-hello",
    found: 'holdsEpoch ? identity.ensembleId : ""',
    replacement: "identity.ensembleId",
  }),
  mutation(
    "founding",
    "promise-of-another-attempt-counted",
    {
      marker: "a-promise-counts-for-its-attempt",
      found: 'attemptId !== "" && attemptId === this.#ensembleId',
      replacement: "true",
    },
    VOTE_BESIDE_DATA,
  ),
];

function mutation(rule: string, name: string, ...edits: SourceEdit[]): SourceMutation & { readonly rule: string } {
  return { rule, name, edits };
}
