/** Every page and its path. A page is the default export of its file and is loaded when it is first shown. */
import { type ComponentType, lazy } from "react";

export interface Page {
  path: string;
  page: ComponentType<{ params: Record<string, string | undefined> }>;
}

export const ROUTES: Page[] = [
  { path: "/runs", page: lazy(() => import("./runs/page")) },
  { path: "/runs/:run/:tab?", page: lazy(() => import("./run/page")) },
  { path: "/workflows", page: lazy(() => import("./workflows/list")) },
  { path: "/workflows/:workflow/:tab?/:what?", page: lazy(() => import("./workflows/page")) },
  { path: "/rules", page: lazy(() => import("./rules/list")) },
  { path: "/rules/:rule/:tab?/:what?", page: lazy(() => import("./rules/page")) },
  { path: "/entities", page: lazy(() => import("./rules/entities")) },
  { path: "/entities/:entity/:tab?", page: lazy(() => import("./rules/entity")) },
  { path: "/alerts", page: lazy(() => import("./rules/alerts")) },
  { path: "/catalog/import/:kind?", page: lazy(() => import("./catalog/import")) },
  { path: "/catalog/:tab?", page: lazy(() => import("./catalog/page")) },
  { path: "/connectors/:connector", page: lazy(() => import("./catalog/connector")) },
  { path: "/actions/:action", page: lazy(() => import("./catalog/action")) },
  { path: "/templates/:template", page: lazy(() => import("./templates/template")) },
  { path: "/triggers/:tab?", page: lazy(() => import("./workflows/triggers")) },
  { path: "/inbox", page: lazy(() => import("./people/inbox")) },
  { path: "/heroes", page: lazy(() => import("./people/heroes")) },
  { path: "/heroes/:type/:id", page: lazy(() => import("./people/hero")) },
  { path: "/admin/:tab?", page: lazy(() => import("./admin/page")) },
  { path: "/system/:tab?", page: lazy(() => import("./system/page")) },
];

/** Where the root leads. */
export const HOME = "/runs";
