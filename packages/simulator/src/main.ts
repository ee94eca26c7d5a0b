import { parseArgs } from "node:util";
import { installMutation } from "./mutations/mutate-source.ts";
import { MUTATIONS } from "./mutations/mutations.ts";

/**
 * `npm run simulate -- --seeds N --from S`: runs seeds, prints a summary, ends with 1 if one fails.
 * The README lists the other options.
 *
 * The simulator is imported after the options are parsed: a mutation must be installed before its
 * source is loaded.
 */
const { values } = parseArgs({
  options: {
    seeds: { type: "string" },
    from: { type: "string" },
    minutes: { type: "string" },
    parallel: { type: "string" },
    twice: { type: "boolean" },
    out: { type: "string" },
    "keep-going": { type: "boolean" },
    "check-sometimes": { type: "boolean" },
    mutate: { type: "string" },
    mutations: { type: "boolean" },
    depth: { type: "string" },
    stride: { type: "string" },
    exhaustive: { type: "boolean" },
    faults: { type: "string" },
    elections: { type: "boolean" },
    deviations: { type: "string" },
    quick: { type: "boolean" },
    worker: { type: "boolean" },
    without: { type: "string" },
    only: { type: "string" },
    voters: { type: "string" },
    observers: { type: "string" },
    clients: { type: "string" },
    kinds: { type: "string" },
    limits: { type: "string" },
    sessions: { type: "string" },
    tenants: { type: "string" },
    manners: { type: "string" },
    reconfig: { type: "string" },
    until: { type: "string" },
    "crash-at-log-step": { type: "string" },
  },
});

if (values.mutate !== undefined) {
  const mutation = MUTATIONS.find(({ name }) => name === values.mutate);
  if (mutation === undefined) {
    console.error(
      `there is no mutation "${values.mutate}", there are:\n${MUTATIONS.map(({ name }) => name).join("\n")}`,
    );
    process.exit(2);
  }
  installMutation(mutation);
}

if (values.exhaustive === true) {
  const { runExhaustive, runOneScript, serveExhaustive } = await import("./exhaustive/run-exhaustive.ts");
  const stride = whole("stride", values.stride ?? "1");
  const space = {
    depth: whole("depth", values.depth ?? "2"),
    faults: whole("faults", values.faults ?? "3"),
    hasElections: values.elections === true,
    stride,
    offset: whole("from", values.from ?? "0") % stride,
  };
  if (values.deviations !== undefined) process.exitCode = runOneScript(JSON.parse(values.deviations));
  else if (values.worker === true) serveExhaustive(space);
  else {
    const parallel = whole("parallel", values.parallel ?? "1");
    process.exitCode = await runExhaustive({ space, parallel, mutation: values.mutate });
  }
} else if (values.mutations === true) {
  const { runMutations } = await import("./mutations/mutation-table.ts");
  process.exitCode = await runMutations(whole("seeds", values.seeds ?? "1000"));
} else {
  const { sessionMode } = await import("./seeds/draw-plan.ts");
  const { faultNames } = await import("./faults/fault-names.ts");
  const changes = {
    ...(values.without === undefined ? {} : { without: faultNames(values.without) }),
    ...(values.only === undefined ? {} : { only: faultNames(values.only) }),
    ...(values.voters === undefined ? {} : { voters: whole("voters", values.voters) }),
    ...(values.observers === undefined ? {} : { observers: whole("observers", values.observers) }),
    ...(values.clients === undefined ? {} : { clients: whole("clients", values.clients) }),
    ...(values.kinds === undefined ? {} : { hasNodeKinds: values.kinds === "yes" }),
    ...(values.limits === undefined ? {} : { hasSmallLimits: values.limits === "small" }),
    ...(values.sessions === undefined ? {} : { sessions: sessionMode(values.sessions) }),
    ...(values.tenants === undefined ? {} : { tenants: whole("tenants", values.tenants) }),
    ...(values.reconfig === undefined ? {} : { isChangeable: values.reconfig === "yes" }),
    ...(values.manners === undefined ? {} : { hasPlainManners: values.manners === "plain" }),
    ...(values.until === undefined ? {} : { faultsUntilMs: whole("until", values.until) }),
    ...(values["crash-at-log-step"] === undefined
      ? {}
      : { crashAtLogStep: whole("crash-at-log-step", values["crash-at-log-step"]) }),
  };
  if (values.worker === true) {
    const { serveBatches } = await import("./seeds/worker.ts");
    serveBatches(changes);
  } else {
    const { runSeeds } = await import("./seeds/run-seeds.ts");
    process.exitCode = await runSeeds({
      from: whole("from", values.from ?? "1"),
      seeds: whole("seeds", values.seeds ?? (values.minutes === undefined ? "100" : "1000000000")),
      minutes: values.minutes === undefined ? undefined : whole("minutes", values.minutes),
      parallel: whole("parallel", values.parallel ?? "1"),
      isTwice: values.twice === true,
      out: values.out ?? "simulations",
      explains: values.quick !== true,
      keepsGoing: values["keep-going"] === true,
      checksSometimes: values["check-sometimes"] === true,
      mutation: values.mutate,
      changes,
    });
  }
}

function whole(name: string, text: string): number {
  if (/^\d+$/.test(text)) return Number(text);
  console.error(`--${name} is a whole number, found "${text}"`);
  return process.exit(2);
}
