import type { Builder } from "@grafana/grafana-foundation-sdk/cog";
import {
  DashboardBuilder,
  DashboardCursorSync,
  DashboardLinkBuilder,
  DashboardLinkType,
  DatasourceVariableBuilder,
  type Panel,
  QueryVariableBuilder,
  RowBuilder,
  ThresholdsConfigBuilder,
  ThresholdsMode,
  type VariableModel,
  VariableRefresh,
  VariableSort,
} from "@grafana/grafana-foundation-sdk/dashboard";
import { DataqueryBuilder } from "@grafana/grafana-foundation-sdk/prometheus";
import { PanelBuilder as StatBuilder } from "@grafana/grafana-foundation-sdk/stat";
import { PanelBuilder as LinesBuilder } from "@grafana/grafana-foundation-sdk/timeseries";
import type { Board, BoardPanel } from "./board.ts";

const PROMETHEUS = { type: "prometheus", uid: "$datasource" };
const HEIGHT = 7;
/** Columns, where Grafana has 24. */
const LINES_WIDTH = 8;
const NUMBER_WIDTH = 4;
/** All boards have it, and link to each other by it. */
const TAG = "zooid";
/** Every server has this metric in every role. */
const OF_EVERY_SERVER = "znode_count";

/** The board as Grafana imports it; its links lead to the others with the same ensemble. */
export function grafanaJson(board: Board): string {
  const builder = new DashboardBuilder(board.title)
    .uid(board.uid)
    .description(board.description)
    .tags([TAG])
    .time({ from: "now-3h", to: "now" })
    .refresh("30s")
    .timezone("browser")
    .tooltip(DashboardCursorSync.Crosshair)
    .variables(variablesOf(board))
    .link(
      new DashboardLinkBuilder("Zooid")
        .type(DashboardLinkType.Dashboards)
        .tags([TAG])
        .asDropdown(true)
        .includeVars(true)
        .keepTime(true),
    );
  // Grafana finds panels by their ids, in links and in its own store.
  let id = 0;
  for (const { title, panels } of board.rows) {
    builder.withRow(new RowBuilder(title).id(++id));
    for (const panel of panels) builder.withPanel(panelOf(panel, ++id));
  }
  return `${JSON.stringify(builder.build(), null, 2)}\n`;
}

function variablesOf({ isOfOneServer }: Board): Builder<VariableModel>[] {
  const valuesOf = (name: string, label: string, query: string): Builder<VariableModel> =>
    new QueryVariableBuilder(name)
      .label(label)
      .datasource(PROMETHEUS)
      .query({ query, refId: name })
      .definition(query)
      .refresh(VariableRefresh.OnTimeRangeChanged)
      .sort(VariableSort.AlphabeticalAsc);
  const ensemble = valuesOf("job", "ensemble", `label_values(${OF_EVERY_SERVER}, job)`);
  const server = valuesOf("instance", "server", `label_values(${OF_EVERY_SERVER}{job="$job"}, instance)`);
  const datasource = new DatasourceVariableBuilder("datasource").label("Prometheus").type("prometheus");
  return [datasource, ensemble, ...(isOfOneServer ? [server] : [])];
}

function panelOf(panel: BoardPanel, id: number): Builder<Panel> {
  const { title, unit = "none", queries, steps = [], shape = "lines" } = panel;
  const isNumber = shape === "number";
  const builder = isNumber ? new StatBuilder().span(NUMBER_WIDTH) : new LinesBuilder().span(LINES_WIDTH);
  builder
    .id(id)
    .title(title)
    .description(descriptionOf(panel))
    .datasource(PROMETHEUS)
    .unit(unit)
    .height(HEIGHT)
    .thresholds(thresholdsOf(steps));
  for (const [i, [name, expression]] of Object.entries(queries).entries()) {
    const query = new DataqueryBuilder()
      .refId(String.fromCharCode("A".charCodeAt(0) + i))
      .datasource(PROMETHEUS)
      .expr(expression)
      .legendFormat(name);
    // A number is that of now: the last one of a range would outlast its series.
    builder.withTarget(isNumber ? query.instant() : query.range());
  }
  return builder;
}

function descriptionOf({ shows, bad, remedy }: BoardPanel): string {
  return [...(shows === undefined ? [] : [shows]), `**Bad:** ${bad}`, `**What to do:** ${remedy}`].join("\n\n");
}

/** Without steps all is green. */
function thresholdsOf(steps: NonNullable<BoardPanel["steps"]>): ThresholdsConfigBuilder {
  const [first, ...later] = steps;
  return new ThresholdsConfigBuilder()
    .mode(ThresholdsMode.Absolute)
    .steps([{ value: null, color: first?.[1] ?? "green" }, ...later.map(([value, color]) => ({ value, color }))]);
}
