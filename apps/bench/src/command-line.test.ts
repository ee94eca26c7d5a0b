import { describe, expect, test } from "vitest";
import { DEFAULTS } from "./bench-config.ts";
import { type Command, parseCommandLine } from "./command-line.ts";
import { UsageError } from "./usage-error.ts";

function parsed<K extends Command["kind"]>(kind: K, ...argv: readonly string[]): Extract<Command, { kind: K }> {
  const command = parseCommandLine(argv);
  if (command.kind !== kind) throw new Error(`expected ${kind}, found ${command.kind}`);
  return command as Extract<Command, { kind: K }>;
}

const LOCAL = ["--hosts", "127.0.0.1:1"];
const HOST = { name: "127.0.0.1", port: 1 };

test("a workload and hosts are enough", () => {
  const { workload, config, output } = parsed("run", ...LOCAL, "read-ratio");
  expect(workload.name).toBe("read-ratio");
  expect(config).toEqual({ ...DEFAULTS, hosts: [[HOST]] });
  expect(output).toEqual({
    json: undefined,
    svg: undefined,
    quiet: false,
    progress: "auto",
    progressIntervalMs: 10_000,
  });
});

test("every option reaches the configuration, before the workload or behind it", () => {
  const flags = [
    ...["--connections", "3", "--rate", "500.5", "--arrivals", "poisson", "--payload", "1KiB", "--nodes", "7"],
    ...["--ratio", "10,20", "--sizes", "1,64KiB,1MiB", "--sessions", "9", "--idle", "2s", "--ephemerals", "4"],
    ...["--duration", "1m", "--warmup", "500ms", "--repeats", "2", "--workers", "5", "--seed", "11"],
    ...["--session-timeout", "9", "--root", "/r/s", "--max-errors", "2.5", "--restart-command", "restart"],
    ...["--contenders", "2,10", "--kind", "unfair", "--server-pid", "12", "--allow-remote", "--slice", "50ms"],
    ...["--event", "7s=kill -9 $A=1", "--event", "5s leader lost=kill 12"],
  ];
  const expected = {
    hosts: [[HOST], [HOST, { name: "b", port: 2 }]],
    connections: 3,
    inFlight: undefined,
    ratePerSecond: 500.5,
    arrivals: "poisson",
    payloadBytes: 1024,
    nodes: 7,
    ratios: [10, 20],
    sizes: [1, 65_536, 1_048_576],
    sessions: 9,
    idleMs: 2000,
    ephemerals: 4,
    contenders: [2, 10],
    kind: "unfair",
    durationMs: 60_000,
    warmupMs: 500,
    repeats: 2,
    workers: 5,
    seed: 11,
    sessionTimeoutMs: 9000,
    root: "/r/s",
    errorPercentMax: 2.5,
    restartCommand: "restart",
    serverPid: 12,
    events: [
      { atMs: 5000, label: "leader lost", command: "kill 12" },
      { atMs: 7000, label: "kill -9 $A=1", command: "kill -9 $A=1" },
    ],
    sliceMs: 50,
    allowRemote: true,
  };
  const hosts = [...LOCAL, "--hosts", "127.0.0.1:1,b:2"];
  expect(parsed("run", ...hosts, ...flags, "payload").config).toEqual(expected);
  expect(parsed("run", "payload", ...hosts, ...flags).config).toEqual(expected);
  expect(parsed("run", ...LOCAL, "payload", "--in-flight", "4").config.inFlight).toBe(4);
});

test("destinations of results and progress", () => {
  const flags = ["--json", "-", "--svg", "x.svg", "--quiet", "--progress", "json", "--progress-interval", "2s"];
  expect(parsed("run", ...LOCAL, "payload", ...flags).output).toEqual({
    json: "-",
    svg: "x.svg",
    quiet: true,
    progress: "json",
    progressIntervalMs: 2000,
  });
});

test("two sides are compared five times by default", () => {
  const command = parsed("compare", "compare", "localhost:1", "127.0.0.1:2", "multi-10", "--a-name", "zooid");
  expect(command.a).toEqual({ name: "zooid", hosts: [{ name: "localhost", port: 1 }] });
  expect(command.b).toEqual({ name: "B", hosts: [{ name: "127.0.0.1", port: 2 }] });
  expect(command.config.repeats).toBe(5);
  expect(parsed("compare", "compare", "localhost", "localhost", "multi-10", "--repeats", "3").config.repeats).toBe(3);
});

test("a calibration needs no hosts", () => {
  expect(parsed("calibrate", "calibrate", "list-1k", "--duration", "1s").config).toMatchObject({
    hosts: [],
    durationMs: 1000,
  });
});

test("a null server freezes at the given time", () => {
  const argv = [
    "null-server",
    "--port",
    "5",
    "--payload",
    "100",
    "--children",
    "3",
    "--freeze-at",
    "1s",
    "--freeze-for",
    "250ms",
  ];
  expect(parsed("null-server", ...argv).options).toEqual({
    port: 5,
    payloadBytes: 100,
    children: 3,
    freeze: { atMs: 1000, forMs: 250 },
  });
  expect(parsed("null-server", "null-server").options).toEqual({
    port: 0,
    payloadBytes: 0,
    children: 0,
    freeze: undefined,
  });
});

test("help names every workload; the version names the runtime", () => {
  const help = parsed("text", "--help").text;
  for (const name of ["read-ratio", "write-at", "payload", "scale", "create-unique", "multi-10", "list-1k"])
    expect(help).toContain(name);
  for (const name of ["watch-fanout", "sessions", "ephemeral-churn", "lock", "election", "barrier", "queue", "recover"])
    expect(help).toContain(name);
  expect(parsed("text", "--version").text).toMatch(/^zooid-bench \S+ on Node\.js/);
});

describe("refused with a message", () => {
  test.each([
    [[], "name a workload"],
    [["read-ratio"], "name the servers"],
    [[...LOCAL, "read-rati"], 'no workload "read-rati"; there are read-ratio, write-at'],
    [[...LOCAL, "read-ratio", "--conections", "3"], "unknown option '--conections'"],
    [[...LOCAL, "read-ratio", "--connections", "x"], "Expected a whole number."],
    [[...LOCAL, "read-ratio", "--connections", "0"], "--connections is between 1 and 60000, found 0"],
    [[...LOCAL, "read-ratio", "--duration", "1h"], "Expected a time such as 500ms, 10s or 1m."],
    [[...LOCAL, "read-ratio", "--payload", "1GB"], "Expected a size such as 100, 1KiB or 1MiB."],
    [[...LOCAL, "read-ratio", "--ratio", "10,101"], "--ratio is between 0 and 100, found 101"],
    [[...LOCAL, "read-ratio", "--rate", "5", "--in-flight", "5"], "give one of them"],
    [[...LOCAL, "lock", "--contenders", "2,x"], "Expected a whole number."],
    [[...LOCAL, "lock", "--contenders", "0"], "--contenders is between 1 and 60000, found 0"],
    [[...LOCAL, "lock", "--kind", "just"], "Allowed choices are fair, unfair"],
    [[...LOCAL, "read-ratio", "--arrivals", "poisson"], "--arrivals poisson needs a --rate"],
    [[...LOCAL, "read-ratio", "--arrivals", "bursts"], "Allowed choices are constant, poisson"],
    [[...LOCAL, "read-ratio", "--root", "/"], "--root is a path below /"],
    [[...LOCAL, "read-ratio", "--root", "/a#b"], "--root is a path below /"],
    [["--hosts", "example.org:1", "read-ratio"], "example.org:1 is not this machine"],
    [["compare", "localhost", "10.0.0.1:5", "read-ratio"], "10.0.0.1:5 is not this machine"],
    [["compare", "localhost"], "missing required argument 'b'"],
    [["null-server", "--freeze-at", "1s"], "belong together"],
  ])("%j", (argv, text) => {
    expect(() => parseCommandLine(argv)).toThrow(UsageError);
    expect(() => parseCommandLine(argv)).toThrow(text);
  });

  test("all problems, in one error", () => {
    const argv = ["--hosts", "example.org", "read-ratio", "--connections", "0", "--nodes", "0", "--root", "x"];
    try {
      parseCommandLine(argv);
      expect.unreachable();
    } catch (error) {
      expect(String(error).split("\n")).toHaveLength(4);
    }
  });
});
