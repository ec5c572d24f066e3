"""An issuer of access tokens on loopback: it publishes its keys, changes them, and lets a client of MCP sign in."""

import base64
import hashlib
import json
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.parse import parse_qs, urlencode, urlsplit
from uuid import uuid4

import jwt
from cryptography.hazmat.primitives.asymmetric import ec

from memgraph_engine.model.key import RIGHTS

RESOURCE = "https://memory.test/mcp"


class Issuer:
    """Its tokens are for a server at `resource`; `granted` is the user whom a client's sign-in is of."""

    def __init__(self, http, resource=RESOURCE):
        self.url, self.resource = f"http://127.0.0.1:{http.server_port}/realms/test", resource
        self.asked = []
        """The paths that it was asked for."""
        self.signs_in = "ana"
        self.metadata = "/realms/test/.well-known/openid-configuration"
        self.fails = None
        """The status that it answers everything with, if it fails."""
        self.keys, self._codes = {}, {}
        self.rotate()

    @property
    def settings(self):
        """What a server that takes its tokens is set to."""
        return {"issuer": self.url, "resource": self.resource}

    def rotate(self):
        """Sign by a new key from now on; the former one is taken back."""
        self.kid = uuid4().hex
        self.keys = {self.kid: ec.generate_private_key(ec.SECP256R1())}

    @property
    def published(self):
        """Its keys, as it publishes them."""
        es = jwt.algorithms.ECAlgorithm
        return [
            {**es.to_jwk(key.public_key(), as_dict=True), "kid": kid, "use": "sig"} for kid, key in self.keys.items()
        ]

    def claims(self, user="ana", rights=RIGHTS, **other):
        """What a good token says; None takes a claim out."""
        now = int(time.time())
        told = {"iss": self.url, "aud": self.resource, "sub": user, "iat": now, "exp": now + 300, "jti": uuid4().hex}
        told |= {"scope": " ".join(["openid", *(f"memory:{right}" for right in rights)]), **other}
        return {name: value for name, value in told.items() if value is not None}

    def token(self, user="ana", rights=RIGHTS, *, key=None, algorithm="ES256", headers=None, **claims):
        """Return a token, good but for what is given."""
        told = {"kid": self.kid, "typ": "at+jwt", **(headers or {})}
        told = {name: value for name, value in told.items() if value is not None}
        key = self.keys[self.kid] if key is None else key
        return jwt.encode(self.claims(user, rights, **claims), key, algorithm, told)

    def bearer(self, *args, **given):
        """Return the headers that bring a token."""
        return {"Authorization": f"Bearer {self.token(*args, **given)}"}

    def answer(self, path, query, form):
        """Return the status and the body that a request is answered with, or where it is led."""
        at = self.url.removesuffix("/realms/test")
        if self.fails or path == "/moved":
            return self.fails or 302, f"{at}/jwks"
        if path == self.metadata:
            ends = {
                "authorization_endpoint": "authorize",
                "token_endpoint": "token",
                "registration_endpoint": "register",
            }
            told = {"issuer": self.url, "jwks_uri": f"{at}/jwks", **{name: f"{at}/{end}" for name, end in ends.items()}}
            told |= {"response_types_supported": ["code"], "code_challenge_methods_supported": ["S256"]}
            return 200, told
        if path == "/jwks":
            return 200, {"keys": self.published} if self.published != "no object" else [self.published]
        if path == "/register":
            return 201, {**form, "client_id": "a client"}
        if path == "/authorize":
            code = uuid4().hex
            self._codes[code] = query
            return 302, f"{query['redirect_uri']}?{urlencode({'code': code, 'state': query['state'], 'iss': self.url})}"
        if path == "/token":
            asked = self._codes.pop(form["code"])
            proof = base64.urlsafe_b64encode(hashlib.sha256(form["code_verifier"].encode()).digest()).rstrip(b"=")
            assert proof.decode() == asked["code_challenge"]
            claims = {"aud": form["resource"], "scope": asked["scope"]}
            token = self.token(self.signs_in, **claims)
            return 200, {"access_token": token, "token_type": "Bearer", "expires_in": 300, "scope": asked["scope"]}
        return 404, {}


@contextmanager
def issuing(resource=RESOURCE):
    """An issuer that can be reached."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            at = urlsplit(self.path)
            issuer.asked.append(at.path)
            body = self.rfile.read(int(self.headers.get("content-length", 0))).decode()
            read = json.loads if body.startswith("{") else lambda text: {k: v[0] for k, v in parse_qs(text).items()}
            status, told = issuer.answer(at.path, {k: v[0] for k, v in parse_qs(at.query).items()}, read(body))
            self.send_response(status)
            if status == 302:
                self.send_header("Location", told)
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            self.wfile.write(json.dumps(told).encode())

        do_POST = do_GET  # noqa: N815  the names are of the base class

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as http:
        issuer = Issuer(http, resource)
        thread = Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield issuer
        finally:
            http.shutdown()
            thread.join()
