import type { ComponentChildren } from "preact";

export interface Column<T> {
  readonly head: string;
  /** Numbers stand at the right, codes have the font of paths and ids. */
  readonly kind?: "number" | "code";
  readonly title?: string;
  readonly isRowHead?: boolean;
  readonly cell: (row: T) => ComponentChildren;
}

interface TableProps<T> {
  readonly label: string;
  readonly columns: readonly Column<T>[];
}

interface RowsProps<T> {
  readonly columns: readonly Column<T>[];
  readonly rows: readonly T[];
  readonly keyOf: (row: T) => string | number;
}

/** A cell for each column and row. The table scrolls where it is wider than the page. */
export function Table<T>({ label, columns, rows, keyOf }: TableProps<T> & RowsProps<T>) {
  return (
    <TableFrame label={label} columns={columns}>
      <tbody>
        <Rows columns={columns} rows={rows} keyOf={keyOf} />
      </tbody>
    </TableFrame>
  );
}

/** A table whose children are its bodies. */
export function TableFrame<T>({ label, columns, children }: TableProps<T> & { readonly children: ComponentChildren }) {
  return (
    <section class="table-scroll" tabIndex={0} aria-label={label}>
      <table>
        <thead>
          <tr>
            {columns.map(({ head, kind, title }) => (
              <th key={head} scope="col" class={kind === "number" ? kind : undefined} title={title}>
                {head}
              </th>
            ))}
          </tr>
        </thead>
        {children}
      </table>
    </section>
  );
}

export function Rows<T>({ columns, rows, keyOf }: RowsProps<T>) {
  return rows.map((row) => (
    <tr key={keyOf(row)}>
      {columns.map(({ head, kind, isRowHead, cell }) =>
        isRowHead ? (
          <th key={head} scope="row" class={kind}>
            {cell(row)}
          </th>
        ) : (
          <td key={head} class={kind}>
            {cell(row)}
          </td>
        ),
      )}
    </tr>
  ));
}
