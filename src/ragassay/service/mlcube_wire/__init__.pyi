from .wire_routes import router as router
