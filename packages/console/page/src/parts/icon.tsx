/** Line icons of one size. */
const PATHS = {
  logo: "M12 8v3.5m0 0L7 16m5-4.5L17 16M12 8a2 2 0 1 0 0-4 2 2 0 0 0 0 4ZM6 20a2 2 0 1 0 0-4 2 2 0 0 0 0 4Zm12 0a2 2 0 1 0 0-4 2 2 0 0 0 0 4Z",
  servers: "M4 5h16v6H4zM4 13h16v6H4zM7.5 8h.01M7.5 16h.01",
  tree: "M5 4v13a2 2 0 0 0 2 2h4M5 9h6M14 7h5v4h-5zM14 17h5v4h-5z",
  people:
    "M9 11a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7ZM3 20c0-3.3 2.7-6 6-6s6 2.7 6 6M16 4.5a3.5 3.5 0 0 1 0 6.5M17.5 14.6c2.1.8 3.5 2.9 3.5 5.4",
  lock: "M6 11h12v9H6zM8.5 11V8a3.5 3.5 0 0 1 7 0v3M12 14.5v2",
  chart: "M4 4v16h16M8 15l3.5-4 3 2.5L20 8",
  pulse: "M3 12h4l2.5-7 5 14L17 12h4",
  sliders: "M4 7h9M17 7h3M4 17h3M11 17h9M15 9.500v-5M9 19.500v-5",
  terminal: "M4 5h16v14H4zM7.500 9l3 3-3 3M13 15h4",
  list: "M9 6h11M9 12h11M9 18h11M4.500 6h.01M4.500 12h.01M4.500 18h.01",
  search: "M11 17a6 6 0 1 0 0-12 6 6 0 0 0 0 12ZM20 20l-4.5-4.5",
  sun: "M12 16a4 4 0 1 0 0-8 4 4 0 0 0 0 8ZM12 2v2M12 20v2M2 12h2M20 12h2M5 5l1.4 1.4M17.6 17.6 19 19M5 19l1.4-1.4M17.6 6.4 19 5",
  moon: "M20 14.5A8.5 8.5 0 0 1 9.5 4a8.5 8.5 0 1 0 10.500 10.500Z",
  contrast: "M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18ZM12 3v18M12 8h8M12 13h8.900M12 18h6",
  chevron: "M9 6l6 6-6 6",
  plus: "M12 5v14M5 12h14",
  trash: "M5 7h14M9 7V4h6v3M7 7l1 13h8l1-13M10 11v5M14 11v5",
  edit: "M4 20h4L19 9l-4-4L4 16zM13 7l4 4",
  copy: "M9 9h11v11H9zM5 15H4V4h11v1",
  download: "M12 4v11m0 0-4-4m4 4 4-4M4 20h16",
  close: "M6 6l12 12M18 6 6 18",
  warning: "M12 3 2.500 20h19zM12 10v4M12 17h.01",
  check: "M5 12.500l4.500 4.500L19 7.500",
  bolt: "M13 3 5 13.500h6L10 21l8-10.500h-6z",
  up: "M12 19V5M6 11l6-6 6 6",
  down: "M12 5v14M6 13l6 6 6-6",
  basket: "M4 9h16l-2 10H6zM8 9l4-5 4 5",
  flame:
    "M12 21a6 6 0 0 0 6-6c0-4-3-5.500-3.500-10-3 1.500-4.500 4-4.500 6.500-1-.5-1.500-1.500-1.500-2.500C7 10.500 6 12.500 6 15a6 6 0 0 0 6 6Z",
  refresh: "M20 11a8 8 0 0 0-14.300-4L4 9M4 4v5h5M4 13a8 8 0 0 0 14.300 4l1.700-2M20 20v-5h-5",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}
