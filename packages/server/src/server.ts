import { rmSync } from "node:fs";
import { join } from "node:path";
import { assert, hostPort, type Members, ZXID_NONE } from "@zooid/model";
import { type LogHandler, StoreError, type StoreWarning } from "@zooid/txn-log";
import { decodeMembers } from "@zooid/zab";
import type { Observable } from "rxjs";
import { type AdminView, NOT_SERVING } from "./admin/admin-view.ts";
import { type AdminReport, adminReport } from "./admin/client-reports.ts";
import { answerWord, type Report, reportText, wordBytes } from "./admin/four-letter-words.ts";
import { OperatorPorts } from "./admin/operator-ports.ts";
import { ClientDoor, type DoorAccess } from "./clients/client-door.ts";
import { ClientPorts } from "./clients/client-ports.ts";
import { EarlyClients } from "./clients/early-clients.ts";
import { parseServerConfig, type ServerConfig, type ServerOptions } from "./config.ts";
import { DiskGuard } from "./disk/disk-guard.ts";
import { Driver } from "./driver/driver.ts";
import type { DriverHooks } from "./driver/driver-config.ts";
import { driverConfigOf, driverLimitsOf, historyReadOf, replicaToolsOf, sidOf } from "./driver-setup.ts";
import { EnsemblePeers } from "./ensemble-peers.ts";
import type { FollowConfig } from "./following/follow-options.ts";
import { Following } from "./following/following.ts";
import { ReadDoor } from "./following/read-door.ts";
import { clientPlaceOf } from "./listening/client-place.ts";
import { otherPlaces } from "./listening/other-places.ts";
import { PortMoves } from "./listening/port-moves.ts";
import { type LiveSettings, logSettingsOf } from "./live-settings.ts";
import { AuditTail } from "./operators/audit-tail.ts";
import { type AuditRecord, AuditTrail } from "./operators/audit-trail.ts";
import { type Change, ChangeRecorder } from "./operators/change-stream.ts";
import { dataWarnings } from "./operators/data-warnings.ts";
import { Drain } from "./operators/drain.ts";
import { EventLog } from "./operators/event-log.ts";
import { keptMembersNotice } from "./operators/kept-members.ts";
import type { ServerEvent } from "./operators/log-events.ts";
import { RefusalLog } from "./operators/refusal-log.ts";
import { RoleLog } from "./operators/role-log.ts";
import { ServerStatus } from "./operators/server-status.ts";
import { adminViewOf } from "./operators/server-view.ts";
import { SlowLog } from "./operators/slow-log.ts";
import { type RunningParts, reloadParts } from "./reload.ts";
import type { ReloadMode, ReloadResult } from "./reload-result.ts";
import { RunningRestore } from "./restore/running-restore.ts";
import type { Role, ServerLog, ServerSummary, StartOptions, StorageStatus, ZooidServer } from "./server-api.ts";
import { STANDBY_FOLDER, Standby } from "./standby/standby.ts";
import { TakeOver } from "./standby/take-over.ts";
import { openWithRoom } from "./storage/open-with-room.ts";
import { SnapshotRestore } from "./storage/snapshot-restore.ts";
import { openStorage, type Storage } from "./storage/storage.ts";
import { CertificateReport } from "./tls/certificate-report.ts";
import type { ClientTaker } from "./tls/client-tls.ts";

const SILENT: ServerLog = { info() {}, warn() {}, error() {} };
const STORE_EVENTS: Readonly<Record<StoreWarning, ServerEvent>> = {
  behind: "state-file-behind",
  "no-room": "storage-no-room",
  repaired: "storage-repaired",
  slow: "storage-slow",
  unreadable: "storage-unreadable",
};
const STATUS_MS = 1000;
/** Maximum time that a leader that stops waits for a leadership transfer. */
const TRANSFER_MS = 1000;

/**
 * Starts a server: recovers its data directory, takes the next epoch, and serves.
 *
 * @returns once clients can connect
 * @throws ConfigError for invalid options, StoreError for a data directory that cannot be used, the
 *   system's error for a port that cannot be bound; resources are released then
 */
export async function startServer(options: StartOptions = {}): Promise<ZooidServer> {
  const config = parseServerConfig(options);
  const server = new Server(config, options);
  try {
    await server.start();
    return server;
  } catch (error) {
    if (!isHealable(error, config)) throw error;
    // The failed start leaves a partly read state, so the second one uses a new server, without the
    // damaged files.
    const healed = new Server(config, options, error);
    await healed.start();
    return healed;
  }
}

/**
 * Whether the others of an ensemble, or the one that is followed, can give a server what it finds
 * damaged at its start.
 */
function isHealable(error: unknown, { ensemble, follow, healDamage }: ServerConfig): error is StoreError {
  const hasOthers = ensemble !== undefined || follow !== undefined;
  return error instanceof StoreError && error.code === "DAMAGED" && hasOthers && healDamage;
}

class Server implements ZooidServer {
  /** A copy that a reload writes: parts that keep it see other limits at once. */
  readonly #config: ServerConfig;
  readonly #log: ServerLog;
  readonly #options: StartOptions;
  readonly #recorder = new ChangeRecorder();
  readonly #audit: AuditTrail;
  readonly #status = new ServerStatus();
  readonly changes$: Observable<readonly Change[]> = this.#recorder.changes$;
  readonly audit$: Observable<readonly AuditRecord[]>;
  readonly #auditTail: AuditTail;
  readonly role$: Observable<Role> = this.#status.role$;
  readonly members$: Observable<Members | undefined> = this.#status.members$;
  readonly sessions$: Observable<number> = this.#status.sessions$;
  readonly storage$: Observable<StorageStatus> = this.#status.storage$;
  recovered = "";
  #storage: Storage | undefined;
  #driver: Driver | undefined;
  #peers: EnsemblePeers | undefined;
  #following: Following | undefined;
  #readDoor: ReadDoor | undefined;
  #ports: ClientPorts | undefined;
  #door: ClientDoor | undefined;
  /** For clients, in this server's line in the files. */
  #listedClientHost: string | undefined;
  readonly #moves: PortMoves;
  #operators: OperatorPorts | undefined;
  #view: AdminView | undefined;
  readonly #fourLetterWords: { allowed: ReadonlySet<string> };
  readonly #roles = new RoleLog({
    info: (text, fields) => this.#log.info(text, fields),
    warn: (text, fields) => this.#log.warn(text, fields),
  });
  readonly #earlyClients = new EarlyClients();
  readonly #refusals: RefusalLog;
  readonly #events: EventLog;
  readonly #drain: Drain;
  readonly #slow: SlowLog;
  readonly #disk: DiskGuard;
  /** The damage that the start before this one found, until the files are moved away. */
  #damage: StoreError | undefined;
  #restore: SnapshotRestore | undefined;
  #runningRestore: RunningRestore | undefined;
  #takeOver: TakeOver | undefined;
  #standby: Standby | undefined;
  #standbyEnd: Promise<void> | undefined;
  #statusTimer: NodeJS.Timeout | undefined;
  readonly #certificates = new CertificateReport((text, fields) => this.#log.warn(text, fields));
  #stopped: Promise<void> | undefined;
  #hasFailed = false;

  constructor(config: ServerConfig, options: StartOptions, damage?: StoreError) {
    this.#config = { ...config };
    this.#damage = damage;
    this.#options = options;
    this.#log = options.log ?? SILENT;
    this.#fourLetterWords = { allowed: config.fourLetterWords };
    this.#audit = new AuditTrail(sidOf(config));
    this.audit$ = this.#audit.records$;
    this.#auditTail = new AuditTail(this.audit$);
    this.#slow = new SlowLog({
      thresholdMs: config.slowRequestMs,
      warn: (text, fields) => this.#log.warn(text, fields),
      nowMs: () => performance.now(),
    });
    const { ensemble } = config;
    this.#moves = new PortMoves({
      others: () => (ensemble === undefined ? [] : otherPlaces(ensemble.directory, ensemble.sid)),
      info: (text, fields) => this.#log.info(text, fields),
      error: (text, fields) => this.#log.error(text, fields),
    });
    this.#disk = this.#newDiskGuard();
    this.#drain = new Drain({
      driver: () => started(this.#driver),
      info: (text, fields) => this.#log.info(text, fields),
    });
    this.#events = new EventLog(this.#log, () => performance.now());
    this.#refusals = new RefusalLog(
      (text, fields) => this.#log.warn(text, fields),
      () => performance.now(),
      (text, fields) => this.#log.debug?.(text, fields),
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

  get readPath(): string | undefined {
    return this.#readDoor?.path;
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
    return hostPort(host, this.port);
  }

  async start(): Promise<void> {
    try {
      await this.#start();
    } catch (error) {
      await this.stop();
      throw error;
    }
  }

  reload(options?: ServerOptions, mode?: ReloadMode): ReloadResult {
    const running: RunningParts = {
      config: this.#config,
      ports: this.#ports,
      operators: this.#operators,
      peers: this.#peers,
      certificates: () => this.#view?.certificates() ?? [],
      apply: (settings) => this.#apply(settings),
    };
    return reloadParts(running, options, mode);
  }

  #apply(settings: LiveSettings): void {
    Object.assign(this.#config, settings);
    const config = this.#config;
    this.#fourLetterWords.allowed = config.fourLetterWords;
    this.#ports?.limitsChanged();
    this.#slow.thresholdMs = config.slowRequestMs;
    this.#disk.change(config.disk);
    this.#driver?.changeLimits(driverLimitsOf(config));
    this.#storage?.log.changeSettings(logSettingsOf(config));
    this.#storage?.changeHistory(config);
  }

  get summary(): ServerSummary {
    const replica = this.#driver?.replica;
    return {
      role: this.#status.role,
      epoch: this.#following?.status.epoch ?? replica?.zab.epoch ?? 0,
      leader: this.#config.ensemble === undefined ? undefined : replica?.zab.leader,
      appliedZxid: replica?.tree.applied ?? ZXID_NONE,
      connectionCount: replica?.connectionCount ?? 0,
      sessionCount: replica?.sessions.size ?? 0,
      znodeCount: replica?.tree.nodeCount ?? 0,
      watchCount: replica?.watches.watchCount ?? 0,
      outstandingCount: replica?.outstandingCount ?? 0,
      room: this.#disk.room,
      unreachablePeers: this.#peers?.reachability.peers.filter(({ isConnected }) => !isConnected) ?? [],
    };
  }

  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  async report(report: Report): Promise<string> {
    const view = this.#view;
    return view === undefined || this.#driver === undefined ? "" : await reportText(report, view);
  }

  async adminReport(
    report: AdminReport,
    query: Readonly<Record<string, string>> = {},
  ): Promise<Readonly<Record<string, unknown>>> {
    const view = this.#view;
    if (view === undefined || this.#driver === undefined) return { error: NOT_SERVING };
    return await adminReport(view, report, query);
  }

  async #start(): Promise<void> {
    const config = this.#config;
    for (const notice of config.notices) this.#log.warn(notice, { event: "setting" });
    // The ports come first: if one is taken, the disk is left untouched.
    const ports = this.#newPorts();
    this.#ports = ports;
    await ports.listen();
    const door = this.#newDoor(ports);
    this.#door = door;
    // Until the log says whether an operator has opened them.
    await door.follow(config.ensemble?.clients ?? "open");
    if (ports.movable !== undefined) this.#moves.add(ports.movable);
    const view = this.#newView(ports);
    this.#view = view;
    const { admin, metrics } = config;
    const operators = new OperatorPorts({
      view,
      admin,
      metrics,
      application: this.#options.adminApplication,
      warn: (text, fields) => this.#log.warn(text, fields),
    });
    this.#operators = operators;
    await this.#serve(view, () => operators.listen());
    this.#statusTimer = setInterval(() => this.#updateStatus(), STATUS_MS);
    this.#statusTimer.unref();
    this.#certificates.watch(() => view.certificates());
  }

  #newPorts(): ClientPorts {
    const take: ClientTaker = (...client) => {
      if (this.#driver?.isServing === true) this.#driver.accept(...client);
      else if (this.#stopped !== undefined) client[0].destroy();
      else this.#earlyClients.add(...client);
    };
    // A server that follows an Apache ensemble serves no clients.
    const config =
      this.#config.follow === undefined ? this.#config : { ...this.#config, plainPort: false, tls: undefined };
    return new ClientPorts(config, this.#refusals, this.#log, take, () => this.#driver?.arrived());
  }

  #newDoor(ports: ClientPorts): ClientDoor {
    return new ClientDoor({
      ports,
      moved: (access) => {
        if (access === "open") void this.#moves.follow();
        else this.#earlyClients.destroyAll();
        this.#log.info(
          access === "open"
            ? `clients are served: the port for clients is open at ${hostPort(this.address, this.port)}`
            : "no clients are served: their ports are closed until an operator opens the ensemble to clients, see zooid.clients",
          { event: access === "open" ? "clients-open" : "clients-closed" },
        );
      },
      error: (text, fields) => this.#log.error(text, fields),
    });
  }

  #newView(ports: ClientPorts): AdminView {
    const driver = (): Driver => started(this.#driver);
    const storage = (): Storage => started(this.#storage);
    const restore = new SnapshotRestore({
      driver,
      storage,
      isEnding: () => this.#stopped !== undefined || this.#hasFailed,
      serveAgain: async () => {
        this.#audit.clear();
        await this.#serve(view);
        this.#log.info(`restored: ${this.recovered}`, { event: "restored" });
      },
      warn: (text, fields) => this.#log.warn(text, fields),
      fail: (error) => this.#fail(error),
    });
    this.#restore = restore;
    const runningRestore = new RunningRestore({
      backup: () => this.#config.backup,
      dataDir: this.#config.dataDir,
      driver,
      storage,
      warn: (text, fields) => this.#log.warn(text, fields),
      info: (text, fields) => this.#log.info(text, fields),
    });
    this.#runningRestore = runningRestore;
    const takeOver = new TakeOver({
      dataDir: this.#config.dataDir,
      sid: this.#config.ensemble?.sid,
      driver,
      storage,
      standby: () => this.#standby,
      moved: () => setImmediate(() => this.#standbyMoved()),
      info: (text, fields) => this.#log.info(text, fields),
      warn: (text, fields) => this.#log.warn(text, fields),
    });
    this.#takeOver = takeOver;
    const { reload } = this.#options;
    const view = adminViewOf({
      config: this.#config,
      log: this.#log,
      version: this.#options.version ?? "0.0.0",
      ports,
      driver,
      storage,
      peers: () => this.#peers,
      following: () => this.#following,
      room: () => this.#disk.room,
      operators: () => this.#operators,
      hasServed: () => this.#status.hasServed,
      portProblems: () => [...this.#moves.problems, ...(this.#door?.problems ?? [])],
      drain: this.#drain,
      audit: this.#audit,
      auditTail: this.#auditTail,
      fourLetterWords: this.#fourLetterWords,
      clientPort: () => this.port,
      restore: (pieces, sessions) => restore.restore(pieces, sessions),
      runningRestore,
      takeOver,
      reload: reload === undefined ? undefined : (isDryRun, address) => reload({ isDryRun, address }),
    });
    return view;
  }

  /**
   * Recovers the data and serves them.
   *
   * @param recovering called once the progress of recovery can be shown
   */
  async #serve(view: AdminView, recovering: () => Promise<void> = () => Promise.resolve()): Promise<void> {
    const config = this.#config;
    const storage = await this.#openStorage(() => driver);
    this.#storage = storage;
    const peers = this.#newPeers(storage, () => driver);
    this.#peers = peers;
    const driver: Driver = new Driver({
      config: driverConfigOf(config, this.#options.version),
      log: storage.log,
      tools: replicaToolsOf(
        config,
        (reason) => this.#refusals.note("kerberos", "a client", `its Kerberos authentication failed: ${reason}`),
        historyReadOf(storage.history, config.trustedProxies.share, () => driver),
      ),
      hooks: this.#driverHooks(storage, view, () => driver),
      recorder: this.#recorder,
      peers,
    });
    this.#driver = driver;
    if (peers !== undefined) await this.#door?.follow(clientsIn(driver));
    await recovering();
    await peers?.listen();
    this.recovered = await storage.recover(driver.replica);
    const { logDir } = this.#config;
    for (const { event, text } of dataWarnings(storage.log.durable, { isMember: peers !== undefined, logDir }))
      this.#log.warn(text, { event });
    await this.#disk.start();
    driver.replica.setRoom(this.#disk.room);
    storage.setLow(this.#disk.isLow);
    const { currentEpoch, identity } = storage.log.durable;
    driver.isDraining = this.#drain.isOn;
    await this.#options.beforeServing;
    if (config.follow !== undefined) return this.#follow(config.follow, storage, driver);
    if (peers === undefined) driver.lead(currentEpoch, identity.bootCount);
    else {
      driver.join(identity.bootCount);
      await peers.start();
    }
    this.#earlyClients.acceptAll(driver);
    this.#updateRole();
    this.#standbyMoved();
  }

  /** Applies what an Apache ensemble does, in place of serving clients. */
  async #follow(follow: FollowConfig, storage: Storage, driver: Driver): Promise<void> {
    const { dataDir = "", frameBytesMax } = this.#config;
    const { bootCount } = storage.log.durable.identity;
    if (this.#options.readDoor === true)
      this.#readDoor = await ReadDoor.open((socket) => driver.accept(socket, "127.0.0.1"));
    const following = new Following({
      config: follow,
      dataDir,
      dataBytesMax: frameBytesMax,
      storage,
      replica: driver.replica,
      showState: () => driver.serveFollowed(bootCount),
      hideState: () => driver.endFollowed(),
      applied: () => driver.wake(),
      info: (text, fields) => this.#log.info(text, fields),
      warn: (text, fields) => this.#log.warn(text, fields),
      error: (text, fields) => this.#log.error(text, fields),
      // Members of an ensemble that stands by cannot begin with a base from before it.
      replaced: () => void storage.backup?.begin(),
      failed: (error) => this.#fail(error),
    });
    this.#following = following;
    storage.isTreeLevel = () => following.isLevel;
    following.start();
    this.#status.follows();
  }

  /**
   * Keeps the state of a followed Apache ensemble ready while clients stay out and none was taken
   * over, and lets the leader know of it.
   */
  #standbyMoved(): void {
    const { standby: source, dataDir } = this.#config;
    const driver = this.#driver;
    if (source === undefined || dataDir === undefined || driver === undefined || this.#stopped !== undefined) return;
    const { areClientsClosed, areClientsClosedAgain } = driver.replica.zab.members;
    const isWanted = areClientsClosed && !areClientsClosedAgain && this.#takeOver?.taken === undefined;
    if (!isWanted) this.#endStandby(dataDir);
    else if (this.#standbyEnd === undefined)
      this.#standby ??= new Standby({
        source,
        dataDir,
        moved: () => this.#standbyMoved(),
        info: (text, fields) => this.#log.info(text, fields),
        warn: (text, fields) => this.#log.warn(text, fields),
      });
    if (!driver.isHalted) driver.input(() => driver.replica.zab.setStandby(this.#takeOver?.report));
  }

  /** Its files go; another one begins behind that. */
  #endStandby(dataDir: string): void {
    const ending = this.#standby;
    if (this.#standbyEnd !== undefined || ending === undefined) return;
    this.#standby = undefined;
    this.#standbyEnd = ending.stop().then(() => {
      rmSync(join(dataDir, STANDBY_FOLDER), { recursive: true, force: true });
      this.#standbyEnd = undefined;
      this.#standbyMoved();
    });
  }

  async #openStorage(driver: () => Driver): Promise<Storage> {
    const config = this.#config;
    const storage = await openWithRoom({
      open: () => openStorage(config, sidOf(config), this.#logHandler(driver), this.#log, this.#damage),
      isStopped: () => this.#stopped !== undefined,
      warn: (text, fields) => this.#log.warn(text, fields),
    });
    this.#damage = undefined;
    return storage;
  }

  #newDiskGuard(): DiskGuard {
    const { dataDir, logDir, disk } = this.#config;
    return new DiskGuard({
      directories: [...new Set([dataDir, logDir ?? dataDir])].filter((each) => each !== undefined),
      options: disk,
      roomChanged: (room) => this.#driver?.setRoom(room),
      lowChanged: (isLow) => {
        if (isLow) this.#freeLog();
        this.#storage?.setLow(isLow);
      },
      keepReserve: async () => this.#storage?.keepReserve(),
      info: (text, fields) => this.#log.info(text, fields),
      warn: (text, fields) => this.#log.warn(text, fields),
    });
  }

  /** The log can go as far as the state file follows. */
  #freeLog(): void {
    if (this.#following !== undefined) void this.#following.settle();
    else if (this.#driver?.isServing === true) this.#driver.checkpoint();
  }

  #logHandler(driver: () => Driver): LogHandler {
    return {
      appending: (bytes) => {
        if (this.#following === undefined) this.#driver?.proposals.appending(bytes);
      },
      appended: (done) => {
        if (this.#following === undefined) this.#driver?.proposals.appended(done);
        else this.#following.appended(done);
      },
      // The replica of a server that follows an Apache ensemble has no turns.
      completed: (step) => (this.#config.follow === undefined ? driver().input(step) : step()),
      roomChanged: (missing) => {
        this.#disk.logChanged(missing);
        if (missing !== undefined) this.#freeLog();
      },
      failed: (error) => this.#fail(error),
      warned: (text, warning) => this.#log.warn(text, { event: STORE_EVENTS[warning] }),
    };
  }

  #newPeers(storage: Storage, driver: () => Driver): EnsemblePeers | undefined {
    const config = this.#config;
    const { ensemble } = config;
    if (ensemble === undefined) return undefined;
    const { directory } = ensemble;
    const isChangeable = config.reconfigEnabled;
    // The configuration that the log knows is newer than the one of the files, or the same.
    const { committedConfig, lastSeenConfig } = storage.log.durable;
    const stored = [committedConfig, lastSeenConfig].map((bytes) => bytes && decodeMembers(bytes));
    const fileVersion = isChangeable ? ensemble.version : ZXID_NONE;
    const newer = stored.filter((members) => members !== undefined && members.version > fileVersion);
    this.#listedClientHost = directory.find(ensemble.sid)?.clientAddress?.host;
    directory.isOpen = ensemble.unlisted === "follow";
    directory.isChangeable = isChangeable;
    directory.update(newer);
    const [kept] = newer;
    // The files may have another port for clients, where they cannot be written.
    if (kept !== undefined) this.#followClientAddress(kept);
    const notice = kept && keptMembersNotice(kept, directory.files, isChangeable);
    if (notice !== undefined) this.#log[notice.level](notice.text, { event: "configuration" });
    const info: ServerLog["info"] = (text, fields) => this.#log.info(text, fields);
    const warn: ServerLog["warn"] = (text, fields) => this.#log.warn(text, fields);
    const error: ServerLog["error"] = (text, fields) => this.#log.error(text, fields);
    const inForce = (members: Members): void => {
      this.#status.updateMembers(members);
      this.#followClientAddress(members);
      void this.#door?.follow(members.clients === "open" ? "open" : "closed");
      setImmediate(() => this.#standbyMoved());
    };
    return new EnsemblePeers({
      config,
      ensemble,
      storage,
      refusals: this.#refusals,
      driver,
      info,
      warn,
      error,
      moves: this.#moves,
      takeOver: () => started(this.#takeOver),
      inForce,
    });
  }

  /** The configuration in force may place the client port elsewhere. */
  #followClientAddress(members: Members): void {
    const { ensemble, address, reconfigEnabled } = this.#config;
    if (!reconfigEnabled) return;
    const place = clientPlaceOf(members, { sid: ensemble?.sid, address, listedHost: this.#listedClientHost });
    if (place === undefined) return;
    this.#ports?.want(place);
    void this.#moves.follow();
  }

  #driverHooks(storage: Storage, view: AdminView, driver: () => Driver): DriverHooks {
    return {
      refusals: this.#refusals,
      audit: this.#audit,
      slow: this.#slow,
      wordBytes: (word) => wordBytes(word, view),
      fourLetterWord: (word, argument, connection) => answerWord(word, argument, view, connection),
      checkpoint: (checkpoint) => {
        // One that follows applies before the log is durable, and marks checkpoints itself.
        if (this.#following === undefined) storage.checkpoint(checkpoint);
      },
      isBehind: () => storage.isBehind(),
      install: () => this.#takeOver?.installed(storage.install(driver().replica)),
      roleChanged: () => this.#updateRole(),
      note: (event) => {
        this.#events.note(this.#peers?.noted(event) ?? event);
      },
      defect: (error) => this.#fail(error),
    };
  }

  async #stop(): Promise<void> {
    clearInterval(this.#statusTimer);
    this.#certificates.stop();
    this.#auditTail.stop();
    this.#drain.stop();
    this.#disk.stop();
    this.#moves.stop();
    this.#door?.stop();
    this.#ports?.stop();
    await this.#restore?.settled();
    await this.#runningRestore?.stop();
    await this.#standby?.stop();
    await this.#standbyEnd;
    this.#earlyClients.destroyAll();
    await this.#driver?.transferLeadership({
      withinMs: Math.min(this.#config.tickMs, TRANSFER_MS),
      keepServing: false,
    });
    await this.#readDoor?.[Symbol.asyncDispose]();
    await this.#following?.stop();
    await this.#driver?.stop();
    await this.#peers?.stop();
    await this.#operators?.[Symbol.asyncDispose]();
    await this.#storage?.[Symbol.asyncDispose]();
    this.#status.complete();
    this.#recorder.complete();
    this.#audit.complete();
  }

  #updateRole(): void {
    if (this.#driver === undefined || this.#stopped !== undefined) return;
    // The replica of a server that follows an Apache ensemble never finds a role.
    if (this.#config.follow !== undefined) return;
    const { replica } = this.#driver;
    this.#status.updateRole(replica);
    if (this.#config.ensemble === undefined) return;
    this.#roles.changed(replica.zab, performance.now());
    if (replica.isServing) this.#storage?.log.prepareReads();
  }

  #updateStatus(): void {
    this.#slow.tick();
    if (this.#driver !== undefined && this.#storage !== undefined) {
      this.#status.update(this.#driver.replica, this.#storage);
    }
  }

  /** The server has failed. */
  #fail(error: unknown): void {
    if (this.#hasFailed) return;
    this.#hasFailed = true;
    this.#driver?.halt();
    this.#log.error(error instanceof Error ? error.message : String(error), { event: "failed" });
    this.#ports?.stop();
    this.#options.onFailure?.(error);
  }
}

function clientsIn({ replica }: Driver): DoorAccess {
  return replica.zab.members.areClientsClosed ? "closed" : "open";
}

function started<T>(part: T | undefined): T {
  assert(part !== undefined, "operators are served once the server has its parts");
  return part;
}
