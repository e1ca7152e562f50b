"""Logs in, signs and trades by the generated client; keys and digests by ecdsa and pycryptodome.

python3 trade.py <url> <simulation token>, with client.py and openapi.json beside it.
"""

import hashlib
import json
import sys

from client import ApiError, Client
from ecdsa import SECP256k1, SigningKey
from ecdsa.ellipticcurve import Point
from ecdsa.util import sigencode_strings_canonize

try:
    from Cryptodome.Hash import keccak
except ImportError:
    from Crypto.Hash import keccak

URL, SIM_TOKEN = sys.argv[1:3]
ZERO = "0x" + "0" * 40


def hashed(data):
    return keccak.new(digest_bits=256, data=data).digest()


class Wallet:
    def __init__(self, key):
        self.key = SigningKey.from_string(key, curve=SECP256k1)
        self.public = self.key.get_verifying_key().to_string()
        self.address = "0x" + hashed(self.public)[12:].hex()

    def sign(self, digest):
        r, s = self.key.sign_digest_deterministic(
            digest, hashfunc=hashlib.sha256, sigencode=sigencode_strings_canonize
        )
        for v in (27, 28):
            if self.recovered(digest, r, s, v) == self.public:
                return "0x" + (r + s).hex() + format(v, "02x")
        raise ValueError("no recovery id")

    @staticmethod
    def recovered(digest, r, s, v):
        """The public key of a signature (SEC 1, 4.1.6)."""
        curve, order = SECP256k1.curve, SECP256k1.order
        x, prime = int.from_bytes(r, "big"), curve.p()
        y = pow(x**3 + 7, (prime + 1) // 4, prime)
        if y % 2 != v - 27:
            y = prime - y
        point = Point(curve, x, y, order)
        inverse = pow(x, -1, order)
        key = inverse * (
            int.from_bytes(s, "big") * point
            + (-int.from_bytes(digest, "big") % order) * SECP256k1.generator
        )
        return key.x().to_bytes(32, "big") + key.y().to_bytes(32, "big")

    def sign_text(self, text):
        data = text.encode()
        prefix = b"\x19Ethereum Signed Message:\n" + str(len(data)).encode()
        return self.sign(hashed(prefix + data))


def type_text(name, types):
    return name + "(" + ",".join(f'{f["type"]} {f["name"]}' for f in types[name]) + ")"


def struct_hash(name, value, types):
    """hashStruct of EIP-712; an absent field is empty."""
    nested = sorted({f["type"] for f in types[name] if f["type"] in types})
    words = hashed("".join(type_text(one, types) for one in [name, *nested]).encode())
    for field in types[name]:
        given, kind = (value or {}).get(field["name"]), field["type"]
        if kind in types:
            words += struct_hash(kind, given, types)
        elif kind == "string":
            words += hashed((given or "").encode())
        elif kind == "address":
            words += bytes(12) + bytes.fromhex((given or ZERO)[2:])
        else:
            words += int(given or 0).to_bytes(32, "big")
    return hashed(words)


DOMAIN = [
    {"name": "name", "type": "string"},
    {"name": "version", "type": "string"},
    {"name": "chainId", "type": "uint256"},
    {"name": "verifyingContract", "type": "address"},
]


def digest_of(domain, types, name, value):
    types = {**types, "EIP712Domain": DOMAIN}
    domain_hash = struct_hash("EIP712Domain", domain, types)
    return hashed(b"\x19\x01" + domain_hash + struct_hash(name, value, types))


def check(condition, text):
    if not condition:
        raise SystemExit("failed: " + text)


api = Client(URL, {"simulation": SIM_TOKEN})
config = api.get_config()
types = config["types"]

with open("openapi.json", encoding="utf-8") as file:
    vectors = json.load(file)["x-signing-vectors"]
known = Wallet(bytes.fromhex(vectors["key"][2:]))
check(known.address == vectors["address"], "address of the vector")
login = vectors["login"]
check(known.sign_text(login["signing_payload"]) == login["signature"], "login of the vector")
order = vectors["order"]
digest = digest_of(order["domain"], types, "Order", order["message"])
check("0x" + digest.hex() == order["digest"], "digest of the vector")
check(known.sign(digest) == order["signature"], "signature of the vector")

wallet = Wallet(bytes([7]) * 32)
api.sim_deposit({"account": wallet.address, "amount": "10000"})
api.sim_oracle({"symbol": "BTC-USD-PERP", "price": "60000"})
challenge = api.get_auth(wallet.address)
token = api.post_auth(
    {
        "message": challenge["message"],
        "server_signature": challenge["server_signature"],
        "signature": wallet.sign_text(challenge["signing_payload"]),
    }
)
api.tokens["bearer"] = token["token"]
check(api.get_claims()["account"] == wallet.address, "claims")

request = {
    **order["message"],
    "account": wallet.address,
    "price": "59000",
    "nonce": 2**62 + 1,
    "takeProfit": {"triggerPrice": "70000"},
}
signature = wallet.sign(digest_of(config["domain"], types, "Order", request))
placed = api.submit_order({**request, "signatures": [signature]})
check(placed[0]["status"] == "new" and placed[0]["nonce"] == 2**62 + 1, "order")
listed = api.list_orders(wallet.address, 0, status="open")
check([one["orderId"] for one in listed["bids"]] == [placed[0]["orderId"]], "list")
try:
    api.submit_order({**request, "nonce": 7, "signatures": [signature]})
    raise SystemExit("failed: a signature of another order is accepted")
except ApiError as error:
    check((error.status, error.text) == (403, "Invalid signature"), "refusal")
cancelled = api.cancel_order(order_id=placed[0]["orderId"])
check(cancelled["status"] == "cancelled", "cancel")
print("python: logged in, signed, traded")
