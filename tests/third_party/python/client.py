"""An outside team's Python: a client by openapi-python-client."""

import os
from urllib.parse import parse_qs, urlsplit

from animal_store_client import AuthenticatedClient, Client
from animal_store_client.api.animals import create_pet, get_pet, list_pets
from animal_store_client.models import Error, NewPet, Pet, PetStatus

URL = os.environ["SERVICE_URL"]
client = AuthenticatedClient(URL, os.environ["SERVICE_KEY"], raise_on_unexpected_status=True)
stranger = Client(URL, raise_on_unexpected_status=True)


def failed(what, answer, status, code):
    error = answer.parsed
    assert isinstance(error, Error), f"{what} should have failed: {answer}"
    assert (answer.status_code, error.status, error.code) == (status, status, code), answer
    print(f"{what}: {error.status} {error.code}: {error.message}")


added = []
create_pet.sync(client=client, body=NewPet(name="Available", category_id=3, status=PetStatus.AVAILABLE))
for name in ["Dot", "Echo", "Fig"]:
    pet = create_pet.sync(client=client, body=NewPet(name=name, category_id=3, status=PetStatus.PENDING))
    assert isinstance(pet, Pet)
    added.append(pet)
print("added", ", ".join(f"{pet.id} {pet.name}" for pet in added))

pages, pending, query = [], [], {}
while True:
    page = list_pets.sync_detailed(client=client, limit=2, status=PetStatus.PENDING, **query)
    assert isinstance(page.parsed, list)
    pages.append(len(page.parsed))
    pending.extend(page.parsed)
    # The generated answer has httpx's headers, which do not parse links.
    target, _, relation = page.headers.get("link", "").partition(">; ")
    if relation != 'rel="next"':
        break
    query = {"cursor": parse_qs(urlsplit(target.removeprefix("<")).query)["cursor"][0]}
assert (pending, pages) == (added, [2, 1])
print(f"listed {len(pending)} pending animals on pages of {', '.join(map(str, pages))}")

one = get_pet.sync(added[0].id, client=client)
assert one == added[0]
print("fetched", one.name)

failed("a limit of 101", list_pets.sync_detailed(client=client, limit=101), 400, "invalid_parameter")
failed("an empty name", create_pet.sync_detailed(client=client, body=NewPet("", 3)), 400, "invalid_body")
failed("no key", list_pets.sync_detailed(client=stranger), 401, "unauthorized")
failed("an animal that is not there", get_pet.sync_detailed(-1, client=client), 404, "not_found")

for number in [2**53 + 1, 2**63 - 1, -(2**63)]:
    pet = create_pet.sync(client=client, body=NewPet(name="Big", category_id=number))
    again = get_pet.sync(pet.id, client=client)
    assert pet.category_id == again.category_id == number, (number, pet, again)
    print(f"{number} comes back as {again.category_id}")
print("created, listed, followed, fetched; a 400 twice, a 401 and a 404 as typed errors; int64 exact")
