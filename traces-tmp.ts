import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
const root = process.argv[2];
const { planOf } = await import(`${root}/packages/simulator/src/seeds/draw-plan.ts`);
const { runPlan } = await import(`${root}/packages/simulator/src/seeds/seed-run.ts`);
const from = Number(process.argv[3]), to = Number(process.argv[4]);
const out: string[] = [];
for (let seed = from; seed <= to; seed++) {
  const lines: string[] = [];
  const report = runPlan(planOf(seed), { lines });
  const text = lines.filter((l) => !l.startsWith("    at ")).join("\n").replaceAll(/^    at .*$/gm, "").replaceAll("hand-over", "leadership-transfer").replaceAll(/\bround(?=[":=])/g, "check");
  out.push(`${seed} ${report.steps} ${createHash("sha1").update(text).digest("hex")} ${report.traceHash}`);
  if (seed % 20 === 0) writeFileSync(process.argv[5], out.join("\n"));
}
writeFileSync(process.argv[5], `${out.join("\n")}\n`);
