import { createHash, randomBytes, randomInt } from "node:crypto";
import { assert, MajorityQuorum, serverId, type Zxid } from "@zooid/model";
import { REPLICA_DEFAULTS, type ReplicaConfig } from "@zooid/replica";
import { type LogHandler, type ReceivedSnapshot, type SnapshotReceiver, StoreError } from "@zooid/txn-log";
import { RequestReader } from "@zooid/wire";
import { TxnBatchEncoder, TxnReader } from "@zooid/wire/peer";
import { BehaviorSubject, type Observable } from "rxjs";
import type { AdminView } from "./admin/admin-view.ts";
import { answerWord, wordBytes } from "./admin/four-letter-words.ts";
import { NO_SNAPSHOT_COMMANDS } from "./admin/http-options.ts";
import { OperatorPorts } from "./admin/operator-ports.ts";
import { SnapshotDesk } from "./admin/snapshot-desk.ts";
import { type AuditRecord, AuditTrail } from "./audit-trail.ts";
import { buildTime } from "./build-time.ts";
import { type Change, ChangeRecorder } from "./change-stream.ts";
import { ClientPorts } from "./client-ports.ts";
import { parseServerConfig, type ServerConfig, type ServerOptions } from "./config.ts";
import { Driver } from "./driver/driver.ts";
import { EnsemblePeers } from "./ensemble-peers.ts";
import { configurationText } from "./peers/configuration-text.ts";
import { type EnsembleConfig, quorumOf } from "./peers/ensemble-config.ts";
import { RefusalLog } from "./refusal-log.ts";
import { DigestMd5Exchange } from "./sasl/digest-md5.ts";
import { versionText } from "./server-facts.ts";
import { openMemoryStorage, openSqliteStorage, type Storage } from "./storage.ts";
import type { ClientTaker } from "./tls/client-tls.ts";

/** Where a server says what an operator should know. Each line is one sentence. */
export interface ServerLog {
  info(text: string): void;
  warn(text: string): void;
  error(text: string): void;
}

export interface StartOptions extends ServerOptions {
  /** Default: silent. */
  readonly log?: ServerLog;
  /** What `srvr` shows as our own version. */
  readonly version?: string;
  /** Called once when the server cannot go on: storage failed, or an invariant was false. It has stopped serving. */
  readonly onFailure?: (error: unknown) => void;
}

/** What a server is to its ensemble; `looking` is one without a role in which it could serve. */
export type Role = "starting" | "looking" | "read-only" | "leading" | "following" | "observing" | "stopped";

/** A running server. Disposing of it stops it; stopping twice is harmless. */
export interface ZooidServer extends AsyncDisposable {
  /** The port that clients connect to; the TLS port where there is no other. */
  readonly port: number;
  /** The port for clients that speak TLS, if there is one. */
  readonly securePort: number | undefined;
  readonly address: string;
  /** `host:port`, as clients take it. */
  readonly connectString: string;
  /** The port for operators; undefined where none was asked for, or it could not be bound. */
  readonly adminPort: number | undefined;
  /** The port for metrics alone; undefined as above. */
  readonly metricsPort: number | undefined;
  /** What was found at the start, in words for a log line. */
  readonly recovered: string;
  /** What each turn committed. Completes when the server stops. */
  readonly changes$: Observable<readonly Change[]>;
  /** Who asked for which write, and what became of it: those of this server's own clients. Completes when the server stops. */
  readonly audit$: Observable<readonly AuditRecord[]>;
  readonly role$: Observable<Role>;
  /** How many sessions there are, told when it may have changed. */
  readonly sessions$: Observable<number>;
  /** How the log and the state file stand, told about once a second. */
  readonly storage$: Observable<StorageStatus>;
  /** Answers what was read, makes it durable, closes everything. */
  stop(): Promise<void>;
}

export interface StorageStatus {
  readonly logBytes: number;
  readonly stateBytes: number;
  readonly appliedZxid: Zxid;
}

const SILENT: ServerLog = { info() {}, warn() {}, error() {} };
const STATUS_MS = 1000;
/** What `auth` entries of one request become, several times over. */
const TXN_BYTES_BEYOND_FRAME = 4 * 1024 * 1024;
/** How long a leader that stops waits for somebody to hand over to. */
const HAND_OVER_MS = 1000;
/** A batch is copied to the log and to each follower in one piece, which holds the event loop. The ring to the log's thread has room for three. */
const BATCH_BYTES_MAX = 1024 * 1024;
/** What Apache's trace mask is at the start. */
const TRACE_MASK = 306n;
const IN_MEMORY = "this server keeps everything in memory, and has no state that could be taken away or replaced";
const NOT_ALONE =
  "this server is a member of an ensemble, and the others would not follow: a snapshot is restored into a server that serves alone";
/** A single server's own id. */
const SELF = serverId(1);

/**
 * Starts a server: recovers what its data directory holds, takes the next epoch, and serves.
 *
 * @returns once clients can connect
 * @throws ConfigError for options that cannot be, StoreError for a data directory that cannot be used, the system's error for a
 *   port that cannot be bound; nothing is left behind then
 */
export async function startServer(options: StartOptions = {}): Promise<ZooidServer> {
  const config = parseServerConfig(options);
  const server = new Server(config, options);
  await server.start();
  return server;
}

class Server implements ZooidServer {
  readonly #config: ServerConfig;
  readonly #log: ServerLog;
  readonly #options: StartOptions;
  readonly #recorder = new ChangeRecorder();
  readonly #audit: AuditTrail;
  readonly #role = new BehaviorSubject<Role>("starting");
  readonly #sessions = new BehaviorSubject<number>(0);
  readonly #storageStatus: BehaviorSubject<StorageStatus>;
  readonly changes$: Observable<readonly Change[]> = this.#recorder.changes$;
  readonly audit$: Observable<readonly AuditRecord[]>;
  readonly role$: Observable<Role> = this.#role.asObservable();
  readonly sessions$: Observable<number> = this.#sessions.asObservable();
  readonly storage$: Observable<StorageStatus>;
  recovered = "";
  #storage: Storage | undefined;
  #driver: Driver | undefined;
  #peers: EnsemblePeers | undefined;
  #ports: ClientPorts | undefined;
  #operators: OperatorPorts | undefined;
  readonly #heldBack: Parameters<ClientTaker>[] = [];
  readonly #refusals: RefusalLog;
  #restoring: Promise<void> | undefined;
  #statusTimer: NodeJS.Timeout | undefined;
  #stopped: Promise<void> | undefined;
  #hasFailed = false;

  constructor(config: ServerConfig, options: StartOptions) {
    this.#config = config;
    this.#options = options;
    this.#log = options.log ?? SILENT;
    this.#storageStatus = new BehaviorSubject({ logBytes: 0, stateBytes: 0, appliedZxid: 0 as Zxid });
    this.storage$ = this.#storageStatus.asObservable();
    this.#audit = new AuditTrail(config.ensemble?.sid ?? SELF);
    this.audit$ = this.#audit.records$;
    this.#refusals = new RefusalLog(
      (text) => this.#log.warn(text),
      () => performance.now(),
    );
  }

  get port(): number {
    return this.#ports?.port ?? this.#config.port;
  }

  get securePort(): number | undefined {
    return this.#ports?.securePort;
  }

  get address(): string {
    return this.#ports?.address ?? this.#config.address;
  }

  get adminPort(): number | undefined {
    return this.#operators?.adminPort;
  }

  get metricsPort(): number | undefined {
    return this.#operators?.metricsPort;
  }

  get connectString(): string {
    const { address } = this;
    const host = address === "0.0.0.0" || address === "::" ? "127.0.0.1" : address;
    return host.includes(":") ? `[${host}]:${this.port}` : `${host}:${this.port}`;
  }

  async start(): Promise<void> {
    try {
      await this.#start();
    } catch (error) {
      await this.stop();
      throw error;
    }
  }

  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  async #start(): Promise<void> {
    const config = this.#config;
    for (const notice of config.notices) this.#log.warn(notice);
    // The ports come first: where one is taken, nothing on disk is touched.
    const ports = new ClientPorts(config, this.#refusals, this.#log, (...client) => {
      if (this.#driver?.isServing === true) this.#driver.accept(...client);
      else this.#holdBack(...client);
    });
    this.#ports = ports;
    await ports.listen();
    const view = this.#newView(ports);
    const { admin, metrics } = config;
    const operators = new OperatorPorts({ view, admin, metrics, warn: (text) => this.#log.warn(text) });
    this.#operators = operators;
    await this.#begin(view, () => operators.listen());
    this.#statusTimer = setInterval(() => this.#tellStatus(), STATUS_MS);
    this.#statusTimer.unref();
  }

  #newView(ports: ClientPorts): AdminView {
    const config = this.#config;
    const driver = (): Driver => this.#begun(this.#driver);
    const storage = (): Storage => this.#begun(this.#storage);
    const view: AdminView = {
      get driver(): Driver {
        return driver();
      },
      config,
      version: versionText(this.#options.version ?? "0.0.0", buildTime()),
      startedAtMs: performance.now(),
      clientPort: () => this.port,
      diskUsage: () => ({ dataBytes: storage().usage().stateBytes, logBytes: storage().usage().logBytes }),
      commandUrl: config.admin?.commandUrl ?? "",
      initialConfiguration: config.initialConfiguration,
      securePort: () => ports.securePort,
      handshakeCount: () => ports.handshakeCount,
      rejectedCount: () => ports.rejectedCount,
      relayedObservers: () => this.#peers?.links.relayedObservers() ?? [],
      slowSyncCount: () => storage().log.stats().slowSyncCount,
      snapshotCount: () => storage().snapshotCount,
      lastState: () => storage().lastState(),
      snapshots: new SnapshotDesk(config.admin?.snapshots ?? NO_SNAPSHOT_COMMANDS, {
        reason: config.dataDir === undefined ? IN_MEMORY : undefined,
        restoreReason: config.ensemble === undefined ? undefined : NOT_ALONE,
        exportSnapshot: () => {
          driver().mark();
          return storage().exportSnapshot();
        },
        restore: (pieces) => this.#restore(pieces, view),
        nowMs: () => performance.now(),
        info: (text) => this.#log.info(text),
        warn: (text) => this.#log.warn(text),
      }),
      isStorageFull: () => storage().log.stats().storageFull,
      traceMask: { value: TRACE_MASK },
      storageMetrics: () => storage().metrics(),
    };
    return view;
  }

  #begun<T>(part: T | undefined): T {
    assert(part !== undefined, "operators ask once there is a server");
    return part;
  }

  /**
   * Recovers what the data directory holds, and serves it.
   *
   * @param recovering called once there is somebody who can tell how far it has come
   */
  async #begin(view: AdminView, recovering: () => Promise<void> = () => Promise.resolve()): Promise<void> {
    const config = this.#config;
    const refusals = this.#refusals;
    const handler: LogHandler = {
      appended: ({ generation, zxid }) => driver.appended(generation, zxid),
      refused: ({ reason }) => this.#fail(diskFull(config, reason)),
      failed: (error) => this.#fail(error),
      warned: (text) => this.#log.warn(text),
    };
    const { dataDir: directory, logDir, fsyncWarnMs, stateLagBytesMax } = config;
    const { ensemble } = config;
    const { saslUsers } = config.auth;
    const isAlone = ensemble === undefined;
    const sid = ensemble?.sid ?? SELF;
    const storage =
      directory === undefined
        ? openMemoryStorage(handler, sid, isAlone)
        : await openSqliteStorage({
            directory,
            logDirectory: logDir ?? directory,
            sid,
            isAlone,
            handler,
            fsyncWarnMs,
            stateLagBytesMax,
          });
    this.#storage = storage;
    const peers =
      ensemble === undefined
        ? undefined
        : new EnsemblePeers({
            config,
            ensemble,
            storage,
            refusals,
            driver: () => driver,
            warn: (text) => this.#log.warn(text),
          });
    this.#peers = peers;
    const driver: Driver = new Driver(
      {
        replica: {
          ...REPLICA_DEFAULTS,
          sid,
          verifier: ensemble === undefined ? new MajorityQuorum([SELF]) : quorumOf(ensemble),
          ensemble: ensemble === undefined ? undefined : memberOf(config, ensemble),
          tickMs: config.tickMs,
          sessionTimeoutMsMin: config.sessionTimeoutMsMin,
          sessionTimeoutMsMax: config.sessionTimeoutMsMax,
          auth: {
            superDigest: config.superDigest,
            digestEnabled: config.digestEnabled,
            skipAcl: config.skipAcl,
            ...config.auth.rules,
          },
          outstandingCountMax: config.outstandingCountMax,
          watchCountMax: config.watchCountMax,
          isTtlEnabled: config.ttlNodes,
          isQuotaEnforced: config.enforceQuota,
          heldBytesMax: config.heldBytesMax,
          watchBytesMax: config.watchBytesMax,
          // Any single request fits, whatever its access list becomes; and far more than this goes between servers.
          txnBytesMax: config.frameBytesMax + TXN_BYTES_BEYOND_FRAME,
          // An answer beyond it would cut its client off.
          childrenBytesMax: config.outputBytesMax,
          reaping: config.reaping,
          hashKey: { k0: randomInt(2 ** 32) | 0, k1: randomInt(2 ** 32) | 0 },
        },
        limits: {
          frameBytesMax: config.frameBytesMax,
          outputBytesHigh: Math.min(1024 * 1024, config.outputBytesMax),
          outputBytesMax: config.outputBytesMax,
          closingMs: config.sessionlessTimeoutMs,
        },
        sessionlessTimeoutMs: config.sessionlessTimeoutMs,
        connectionThrottle: config.connectionThrottle,
        authFailures: config.auth.failures,
        batchesInFlightMax: 4,
        deliverCountMax: 4096,
      },
      storage.log,
      {
        requests: new RequestReader(),
        batcher: new TxnBatchEncoder(undefined, BATCH_BYTES_MAX),
        txns: new TxnReader(),
        hashes: {
          digest: (bytes) => createHash(config.digestAlgorithm).update(bytes).digest(),
          sha256: (bytes) => createHash("sha256").update(bytes).digest(),
        },
        ...(saslUsers === undefined ? {} : { sasl: () => new DigestMd5Exchange(saslUsers) }),
        random: Math.random,
      },
      {
        refusals,
        audit: this.#audit,
        wordBytes: (word) => wordBytes(word, view),
        fourLetterWord: (word, argument, connection) => answerWord(word, argument, view, connection),
        mark: (mark) => storage.mark(mark),
        isBehind: () => storage.isBehind(),
        install: () => storage.install(driver.replica),
        roleChanged: () => this.#tellRole(),
        note: (text) => this.#log.info(text),
        defect: (error) => this.#fail(error),
      },
      this.#recorder,
      peers,
    );
    this.#driver = driver;
    await recovering();
    await peers?.listen();
    this.recovered = await storage.recover(driver.replica);
    const { durable } = storage.log;
    if (peers === undefined) {
      driver.lead(durable.currentEpoch, durable.identity.bootCount);
    } else {
      driver.join(durable.identity.bootCount);
      await peers.start();
    }
    for (const client of this.#heldBack.splice(0)) {
      if (!client[0].destroyed) driver.accept(...client);
    }
    this.#tellRole();
  }

  /** Nothing is touched before the snapshot is known to be whole. */
  async #restore(pieces: AsyncIterable<Uint8Array>, view: AdminView): Promise<Zxid> {
    const receiver = await this.#begun(this.#storage).importSnapshot();
    let received: ReceivedSnapshot;
    try {
      received = await receiveAll(receiver, pieces);
      if (this.#stopped !== undefined || this.#hasFailed) throw new StoreError({ code: "CLOSED" });
    } catch (error) {
      await receiver.abandon();
      throw error;
    }
    this.#restoring = this.#beginAnew(received, view);
    await this.#restoring;
    return received.position.zxid;
  }

  /** As if the server had been stopped, its data exchanged, and started again; but its ports stay open, and who comes meanwhile waits. */
  async #beginAnew(received: ReceivedSnapshot, view: AdminView): Promise<void> {
    const driver = this.#begun(this.#driver);
    const storage = this.#begun(this.#storage);
    this.#log.warn(
      `a snapshot of ${received.nodeCount} znodes takes the place of everything here; all clients are let go`,
    );
    try {
      await driver.stop();
      await storage.takeOver(received);
      await storage[Symbol.asyncDispose]();
      this.#audit.clear();
      await this.#begin(view);
      this.#log.info(`restored: ${this.recovered}`);
    } catch (error) {
      this.#fail(error);
      throw error;
    }
  }

  /** A client that comes while the data are being read waits, unread, until there is somebody to answer it. */
  #holdBack(...client: Parameters<ClientTaker>): void {
    const [socket] = client;
    if (this.#stopped !== undefined) {
      socket.destroy();
      return;
    }
    socket.on("error", () => {
      // It is gone before it was served.
    });
    this.#heldBack.push(client);
  }

  async #stop(): Promise<void> {
    clearInterval(this.#statusTimer);
    this.#ports?.stop();
    // What has begun is brought to its end; whether it could be, somebody else was told.
    await this.#restoring?.catch(() => {});
    for (const [socket] of this.#heldBack.splice(0)) socket.destroy();
    const { tickMs } = this.#config;
    await this.#driver?.handOver(Math.min(tickMs, HAND_OVER_MS));
    await this.#driver?.stop();
    await this.#peers?.stop();
    await this.#operators?.[Symbol.asyncDispose]();
    await this.#storage?.[Symbol.asyncDispose]();
    this.#role.next("stopped");
    this.#recorder.complete();
    this.#audit.complete();
    this.#role.complete();
    this.#sessions.complete();
    this.#storageStatus.complete();
  }

  #tellRole(): void {
    const { replica } = this.#driver ?? {};
    if (replica === undefined || this.#stopped !== undefined) return;
    const role = replica.isServing ? replica.zab.state : replica.isReadOnly ? "read-only" : "looking";
    if (role !== this.#role.value) this.#role.next(role);
  }

  #tellStatus(): void {
    const { replica } = this.#driver ?? {};
    if (replica === undefined || this.#storage === undefined) return;
    if (replica.sessions.size !== this.#sessions.value) this.#sessions.next(replica.sessions.size);
    if (this.#storageStatus.observed) {
      this.#storageStatus.next({ ...this.#storage.usage(), appliedZxid: replica.tree.applied });
    }
  }

  #fail(error: unknown): void {
    if (this.#hasFailed) return;
    this.#hasFailed = true;
    this.#driver?.halt();
    this.#log.error(error instanceof Error ? error.message : String(error));
    this.#ports?.stop();
    this.#options.onFailure?.(error);
  }
}

/** Whoever sends a snapshot sends it to its end before it hears what is wrong with it. */
async function receiveAll(receiver: SnapshotReceiver, pieces: AsyncIterable<Uint8Array>): Promise<ReceivedSnapshot> {
  let failure: unknown;
  for await (const piece of pieces) {
    if (failure !== undefined) continue;
    try {
      await receiver.add(piece);
    } catch (error) {
      failure = error;
    }
  }
  if (failure !== undefined) throw failure;
  return await receiver.finish();
}

/** Nothing is wrong with what was written; but what was prepared can be written no more, so the server ends and is started again. */
function diskFull({ logDir }: ServerConfig, reason: string): StoreError {
  return new StoreError({ code: "WRITE_FAILED", file: logDir ?? "", reason: `its disk is full (${reason})` });
}

/** A server's place in its ensemble, as the replica wants to know it. */
function memberOf(config: ServerConfig, ensemble: EnsembleConfig): NonNullable<ReplicaConfig["ensemble"]> {
  return {
    isObserver: ensemble.isObserver,
    electionAlg: ensemble.electionAlg,
    initLimit: ensemble.initLimit,
    syncLimit: ensemble.syncLimit,
    newEnsembleId: randomBytes(8).toString("hex"),
    configuration: configurationText(ensemble),
    leaderServes: config.leaderServes,
    localSessions: config.localSessions,
    localSessionsUpgrading: config.localSessionsUpgrading,
    readOnlyMode: config.readOnlyMode,
  };
}
