import type { RecipesJson, WaitCycleJson } from "../../../src/api/recipe-shapes.ts";
import { visible } from "../model/formats.ts";
import { type Box, type Edge, waitLayout } from "../model/wait-layout.ts";
import { Icon } from "./icon.tsx";
import { NodeLink, SessionLink } from "./links.tsx";

const BOX = { width: 190, height: 44 } as const;
const GAP = { x: 90, y: 18 } as const;
const LABEL_CHARS_MAX = 24;
const LISTED_MAX = 200;

/**
 * Sessions that wait for locks, and the sessions that hold them, as a picture and as a list. Cycles
 * come first.
 */
export function WaitGraph({ recipes }: { readonly recipes: RecipesJson }) {
  const { waits, cycles } = recipes;
  if (waits.length === 0) return null;
  const labels = labelsOf(recipes);
  const layout = waitLayout(recipes);
  const width = layout.columnCount * (BOX.width + GAP.x) - GAP.x + 2;
  const height = layout.rowCount * (BOX.height + GAP.y) - GAP.y + 2;
  return (
    <section class="waits" aria-label="Waiting sessions">
      <h2>Waiting sessions</h2>
      {cycles.map((cycle) => (
        <Cycle key={cycle.waits[0]?.from} cycle={cycle} labels={labels} />
      ))}
      <section class="block wait-picture" tabIndex={0} aria-label="Picture of the waiting sessions">
        <svg width={width} height={height} viewBox={`-1 -1 ${width} ${height}`} aria-hidden="true">
          <defs>
            <marker
              id="wait-arrow"
              viewBox="0 0 8 8"
              refX="7"
              refY="4"
              markerWidth="7"
              markerHeight="7"
              orient="auto-start-reverse"
            >
              <path class="wait-arrow" d="M0 0 8 4 0 8Z" />
            </marker>
          </defs>
          {layout.edges.map((edge) => (
            <path
              key={`${edge.from.session} ${edge.to.session} ${edge.path}`}
              class={`wait-edge ${edge.isInCycle ? "in-cycle" : ""}`}
              d={curveOf(edge)}
              marker-end="url(#wait-arrow)"
            >
              <title>{visible(edge.path)}</title>
            </path>
          ))}
          {layout.boxes.map((box) => (
            <g key={box.session} class={`wait-box ${box.isInCycle ? "in-cycle" : ""}`}>
              <rect x={leftOf(box)} y={topOf(box)} width={BOX.width} height={BOX.height} rx="8" />
              <text x={leftOf(box) + 10} y={topOf(box) + 18}>
                {cut(labels.get(box.session) ?? box.session)}
              </text>
              <text class="soft" x={leftOf(box) + 10} y={topOf(box) + 35}>
                {box.session}
              </text>
            </g>
          ))}
        </svg>
        {layout.restCount > 0 && <p class="hint">{layout.restCount} more sessions are in the list only.</p>}
      </section>
      <details>
        <summary>As a list</summary>
        <ul class="plain wait-list">
          {waits.slice(0, LISTED_MAX).map((wait) => (
            <Wait key={`${wait.from} ${wait.to} ${wait.path}`} wait={wait} labels={labels} />
          ))}
        </ul>
      </details>
    </section>
  );
}

type Labels = ReadonlyMap<string, string>;

function Cycle({ cycle, labels }: { readonly cycle: WaitCycleJson; readonly labels: Labels }) {
  return (
    <div class="banner critical" role="alert">
      <Icon name="warning" />
      <div>
        <strong>{cycle.waits.length} sessions wait for each other in a circle.</strong> None goes on unless one of them
        gives up, or its session is ended.
        <ol>
          {cycle.waits.map((wait) => (
            <Wait key={wait.from} wait={wait} labels={labels} />
          ))}
        </ol>
      </div>
    </div>
  );
}

interface WaitProps {
  readonly wait: RecipesJson["waits"][number];
  readonly labels: Labels;
}

function Wait({ wait: { from, to, path }, labels }: WaitProps) {
  return (
    <li>
      <Session id={from} labels={labels} /> waits for <Session id={to} labels={labels} /> in <NodeLink path={path} />
    </li>
  );
}

function Session({ id, labels }: { readonly id: string; readonly labels: Labels }) {
  const label = labels.get(id);
  return (
    <>
      {label !== undefined && `${visible(label)} `}
      <SessionLink id={id} />
    </>
  );
}

/** Contenders mostly have a name as their data. */
function labelsOf({ recipes }: RecipesJson): Labels {
  const labels = new Map<string, string>();
  for (const { owner, text } of recipes.flatMap(({ contenders }) => contenders)) {
    if (owner !== null && text !== null && text !== "" && !labels.has(owner)) labels.set(owner, text);
  }
  return labels;
}

function cut(text: string): string {
  const shown = visible(text);
  return shown.length > LABEL_CHARS_MAX ? `${shown.slice(0, LABEL_CHARS_MAX - 1)}…` : shown;
}

function leftOf({ column }: Box): number {
  return column * (BOX.width + GAP.x);
}

function topOf({ row }: Box): number {
  return row * (BOX.height + GAP.y);
}

/**
 * From the left side of the waiting session to the right side of the other; around, where that
 * stands behind.
 */
function curveOf({ from, to }: Edge): string {
  const [startY, endY] = [topOf(from) + BOX.height / 2, topOf(to) + BOX.height / 2];
  if (from.column > to.column) {
    const [startX, endX] = [leftOf(from), leftOf(to) + BOX.width];
    const bend = GAP.x / 2;
    return `M${startX} ${startY}C${startX - bend} ${startY} ${endX + bend} ${endY} ${endX} ${endY}`;
  }
  const [startX, endX] = [leftOf(from) + BOX.width, leftOf(to)];
  const bend = GAP.x / 2;
  return `M${startX} ${startY + 8}C${startX + bend} ${startY + 8} ${endX - bend} ${endY + 8} ${endX} ${endY + 8}`;
}
