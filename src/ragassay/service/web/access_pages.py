"""Pages that show nothing that is kept: signing in and out, the REST interface."""

from __future__ import annotations

import re
from typing import Annotated, Any

from fastapi import Body, HTTPException, Request, Response

from ragassay.service.api.access import EXPIRED, SESSION
from ragassay.service.api.route_parts import InStore
from ragassay.service.store.tokens import find_token
from ragassay.service.web.page_parts import page, page_router

router = page_router()

_PATH = re.compile(r"/(?:[\w.%:-][\w.%:/-]*)?(?:\?[\w.%:/=&+-]*)?")


@router.get("/docs")
def docs_page(request: Request) -> Response:
    """The REST interface, as its OpenAPI description has it. It shows nothing that is kept, and
    needs no token."""
    api = request.app.openapi()
    groups: dict[str, list[tuple[str, str, dict[str, Any]]]] = {}
    for path, methods in api["paths"].items():
        for method, one in methods.items():
            groups.setdefault(one["tags"][0], []).append((method, path, one))
    crumbs = [("Projects", "/")]
    address = request.app.openapi_url
    return page("docs.html.j2", api=api, groups=groups, address=address, crumbs=crumbs)


@router.get("/login")
def login_page(then: str = "/") -> Response:
    """Asks for a token."""
    # Only a path of this service is gone to: browsers read some other beginnings as an address.
    return page("login.html.j2", then=then if _PATH.fullmatch(then) else "/")


@router.post("/login")
def post_login(
    request: Request, store: InStore, token: Annotated[str, Body(embed=True, max_length=200)]
) -> Response:
    """Keeps a token in the browser, where no script can read it."""
    found = find_token(store, token.strip())
    if found is None or found.is_over:
        raise HTTPException(403, EXPIRED if found else "This token is not valid.")
    response = Response(status_code=204)
    secure = request.url.scheme == "https"
    response.set_cookie(SESSION, token.strip(), httponly=True, samesite="strict", secure=secure)
    return response


@router.post("/logout")
def post_logout() -> Response:
    """Forgets the browser's token."""
    response = Response(status_code=204)
    response.delete_cookie(SESSION)
    return response
